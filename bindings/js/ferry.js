// Ferry in JavaScript: translation with a Transformer model, on a thread of its own, in a page or in Node.
//
//     const ferry = await Ferry.load("model.gguf");
//     console.log(await ferry.translate("Good morning!"));
import {FerryError} from "./error.js";

export {FerryError};

const node = globalThis.process?.versions?.node !== undefined;
let NodeThread, base = globalThis.location?.href; // what URLs are relative to

// A module with one function, of an instruction that not every engine has: i32x4.relaxed_dot_i8x16_i7x16_add_s.
const RELAXED = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7b, 0x7b, 0x7b, 1, 0x7b, 3, 2, 1, 0,
    10, 13, 1, 11, 0, 0x20, 0, 0x20, 1, 0x20, 2, 0xfd, 0x93, 2, 11);

async function prepareNode() {
    NodeThread = (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads")).Worker;
    base = (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:url")).pathToFileURL(`${globalThis.process.cwd()}/`);
}

function startThread(receive, fail) {
    if (node) {
        const thread = new NodeThread(new URL("./worker.js", import.meta.url), {execArgv: []}); // those of scripts do not suit it
        return thread.on("message", receive).on("error", (error) => fail(error.message));
    }
    const thread = new Worker(new URL("./worker.js", import.meta.url), {type: "module"}); // bundlers look for this expression
    thread.onmessage = (event) => receive(event.data);
    thread.onerror = (event) => fail(event.message ?? "the thread could not be started");
    return thread;
}

function expect(condition, what, wanted, value) {
    if (condition) return;
    const found = value === null ? "null" : typeof value === "number" ? value : value?.constructor?.name ?? typeof value;
    throw new FerryError("ARGUMENT", `${what}: expected ${wanted}, found ${found}`);
}

/** What a thread can be given: a URL as it is meant here, bytes, or {files: [[name, either], …]}. */
function sourceOf(source) {
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source) || source instanceof Blob) return source;
    if (typeof source === "string" || source instanceof URL) return new URL(source, base).href;
    if (typeof source?.[Symbol.iterator] === "function") return {files: [...source].map((file) => [file.name, sourceOf(file)])};
    expect(source?.constructor === Object, "model", "a URL, bytes, a File, or files by their names", source);
    return {files: Object.entries(source).map(([name, each]) => [name, sourceOf(each)])};
}

/** What of the options a thread needs. */
function threadOptions({from, to, beam, alignment, glossary, onPartial}) {
    const fits = Number.isInteger(beam) && beam >= 1 && beam < 2 ** 31; // an int32_t, in which 2 ** 32 + 1 would be 1
    expect(beam === undefined || fits, "beam", "an integer from 1 to 2147483647", beam);
    const watched = onPartial !== undefined;
    return {from, to, beam: watched ? 1 : beam, alignment: alignment === true, watched, glossary: entriesOf(glossary)};
}

/** [[source, [target, …]], …] */
function entriesOf(glossary) {
    if (glossary === undefined) return undefined;
    expect(glossary?.constructor === Object, "glossary", "an object", glossary);
    return Object.entries(glossary).map(([source, targets]) => {
        const list = targets === null ? [] : [targets].flat();
        for (const each of list) expect(typeof each === "string", "glossary", "strings or null", each);
        return [source, list];
    });
}

function checked(text) {
    expect(typeof text === "string", "text", "a string", text);
    return text;
}

/** A model. Its calls are answered in their order. */
export class Ferry {
    /** Where the module is that is the fastest here. */
    static wasm = WebAssembly.validate(RELAXED) ? new URL("./ferry-relaxed.wasm", import.meta.url) :
        new URL("./ferry.wasm", import.meta.url);
    /** How the model file describes itself. */
    info = {};
    /** The languages that `from` and `to` can name; empty: the model has one pair. */
    languages = [];
    #sources;
    #thread;
    #calls = []; // the thread has the first one
    #next = 0;
    #ended; // why there is no thread any more

    /** `model`: a URL, bytes, or a File; or the files of a model of another system, as {name: any of these, …} or a list
     * of Files, which are converted. `wasm`: where the module is. */
    static async load(model, {wasm = Ferry.wasm} = {}) {
        if (node) await prepareNode();
        const ferry = new Ferry();
        ferry.#sources = [sourceOf(wasm), sourceOf(model)];
        try {
            return Object.assign(ferry, await new Promise((resolve, reject) => ferry.#start(resolve, reject)));
        } catch (error) {
            ferry.close();
            throw error;
        }
    }

    /** Starts a thread, which loads the model before it takes another call. */
    #start(resolve, reject) {
        this.#thread?.terminate();
        try {
            const thread = startThread((message) => this.#receive(message), (reason) => {
                if (thread === this.#thread) this.#lose(new FerryError("IO", reason));
            });
            this.#thread = thread;
        } catch (error) {
            return reject(error);
        }
        this.#calls.unshift({name: "load", values: this.#sources, resolve, reject});
        this.#post();
    }

    /** Gives the thread the first call. */
    #post() {
        const [call] = this.#calls;
        if (call === undefined) return this.#thread.unref?.(); // it keeps no process alive
        this.#thread.ref?.();
        call.id = this.#next++;
        try {
            this.#thread.postMessage({id: call.id, name: call.name, values: call.values});
        } catch (error) { // a value that cannot be copied
            this.#calls.shift();
            call.reject(error);
            this.#post();
        }
    }

    #receive({id, value, error, partial, progress}) {
        const [call] = this.#calls;
        if (call?.id !== id) return; // of a thread that was ended
        try {
            if (partial !== undefined) return call.onPartial?.(...partial);
            if (progress !== undefined) return call.onProgress?.(...progress);
        } catch (thrown) {
            return this.#abort(call, thrown);
        }
        const failure = error && new FerryError(error.status, error.message);
        if (error?.broken) return this.#lose(failure);
        this.#calls.shift();
        if (error !== undefined) call.reject(failure);
        else call.resolve(value);
        this.#post();
    }

    /** The thread is of no use any more: its call fails, and another one takes its place, if it could be loaded. */
    #lose(error) {
        const [call] = this.#calls;
        if (call === undefined || call.name === "load") this.#fail(error);
        else this.#abort(call, error);
    }

    async #call(name, values, {signal, onPartial, onProgress} = {}) {
        if (this.#ended !== undefined) throw this.#ended;
        signal?.throwIfAborted();
        let abort;
        try {
            return await new Promise((resolve, reject) => {
                const call = {name, values, onPartial, onProgress, resolve, reject};
                abort = () => this.#abort(call, signal.reason);
                signal?.addEventListener("abort", abort);
                if (this.#calls.push(call) === 1) this.#post();
            });
        } finally {
            signal?.removeEventListener("abort", abort);
        }
    }

    /** A thread cannot be asked to end a call: another one takes its place. */
    #abort(call, reason) {
        const at = this.#calls.indexOf(call);
        if (at < 0) return; // it was answered
        this.#calls.splice(at, 1);
        call.reject(reason);
        if (at === 0) this.#start(() => {}, (error) => this.#fail(error));
    }

    /** Ends the thread, and all calls, of now and later. */
    #fail(error) {
        this.#ended ??= error;
        this.#thread?.terminate();
        for (const call of this.#calls.splice(0)) call.reject(error);
    }

    /** Of a text its translation; of a list of lines, which are translated together, a list. */
    async translate(text, options = {}) {
        if (Array.isArray(text)) return this.#call("lines", [text.map(checked), threadOptions(options)], options);
        return (await this.explain(text, options)).text;
    }

    /** The translation of a text with its sentences and, with `alignment`, what in it comes from what. */
    async explain(text, options = {}) {
        return this.#call("translate", [checked(text), threadOptions(options)], options);
    }

    /** HTML, or a part of it, with every tag where it belongs. */
    async translateHtml(html, options = {}) {
        return (await this.translateDocument("html", html, options)).text;
    }

    /** A document of a format of ferry_documents.h: "html", "markdown", "po" …: {text, notes}. */
    async translateDocument(format, text, options = {}) {
        return this.#call("document", [format, checked(text), threadOptions(options)], options);
    }

    /** Bytes of the module's memory, which never shrinks. */
    async memory() {
        return this.#call("memory", []);
    }

    /** Ends the thread, and gives its memory back. Calls that were not answered fail, and so do later ones. */
    close() {
        this.#fail(new FerryError("CANCELLED", "the model was closed"));
    }
}
