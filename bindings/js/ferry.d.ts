// Blob and File are those of TypeScript's "dom", or of the types of Node.

/** One of ferry_status's names. */
export type Status = "ARGUMENT" | "MEMORY" | "IO" | "FORMAT" | "UNSUPPORTED" | "LIMIT" | "CANCELLED";

export class FerryError extends Error {
    constructor(status: Status, message: string);
    status: Status;
}

export interface Language {
    /** The model's own name: "deu_Latn". */
    tag: string;
    /** Other names for it: ["de", "deu"]. */
    names: string[];
    /** "German"; empty if it is not known. */
    english: string;
    source: boolean;
    target: boolean;
    defaultSource: boolean;
    defaultTarget: boolean;
}

export interface Options {
    /** Languages, by any of their names; by default the model's. */
    from?: string | undefined;
    to?: string | undefined;
    /** Hypotheses kept, 1 to 1024; 1 is greedy search. By default the model's. */
    beam?: number | undefined;
    /** Words, each with its translation, or several to choose from; with null, it stays as it is. */
    glossary?: Record<string, string | readonly string[] | null> | undefined;
    /** Ends the call, whose promise is rejected with the signal's reason, and its thread: another one loads the model again. */
    signal?: AbortSignal | undefined;
    /** The translation of a sentence of a text, or of a line of a list, so far, as it grows; search is greedy then. Lines of several
     * sentences are not reported. A callback that throws ends the call as `signal` does: its promise is rejected with what was thrown. */
    onPartial?: ((index: number, text: string) => void) | undefined;
    onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Positions are those of JavaScript's strings: [begin, end). */
export interface Sentence {
    source: [number, number];
    target: [number, number];
    /** Why it stayed in the source language, or null. */
    error: string | null;
    warning: string | null;
    /** Signs that the translation is wrong. */
    quality: ("cut" | "loop" | "short" | "unknown" | "number" | "term")[];
    /** With `alignment`: what in the translation comes from what: source begin, end, target begin, end. */
    pairs?: [number, number, number, number][];
}

export interface Translation {
    text: string;
    sentences: Sentence[];
}

export interface Note {
    line: number;
    /** Whether the text stays in the source language. */
    left: boolean;
    message: string;
}

export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob;

export class Ferry {
    private constructor();
    /** Where the module is that is the fastest here, beside this file: ferry.wasm or ferry-relaxed.wasm. */
    static readonly wasm: URL;
    /** `model`: a model file of Ferry; or the files of a model of another system, such as Firefox's .bin, .spm and
     * shortlist, by their names, which are converted. `wasm`: where the module is, by default `Ferry.wasm`. */
    static load(model: Source | Record<string, Source> | Iterable<File>, options?: {wasm?: string | URL}): Promise<Ferry>;
    /** How the model file describes itself. */
    readonly info: Record<string, string>;
    /** The languages that `from` and `to` can name; empty: the model has one pair. */
    readonly languages: Language[];
    translate(text: string, options?: Options): Promise<string>;
    /** Lines, translated together. One that cannot be translated rejects the call; of a line of several sentences, blanks
     * at its ends are lost. */
    translate(lines: readonly string[], options?: Options): Promise<string[]>;
    explain(text: string, options?: Options & {alignment?: boolean}): Promise<Translation>;
    translateHtml(html: string, options?: Options): Promise<string>;
    translateDocument(format: string, text: string, options?: Options): Promise<{text: string; notes: Note[]}>;
    /** Bytes of the module's memory, which never shrinks. */
    memory(): Promise<number>;
    /** Ends the thread, and gives its memory back. */
    close(): void;
}
