// Ferry in JavaScript: translation with a Transformer model, on a thread of its own, in a page or in Node.
//
//     const ferry = await Ferry.load("model.gguf");
//     console.log(await ferry.translate("Good morning!"));
import {FerryError} from "./module.js";

export {FerryError};

const node = globalThis.process?.versions?.node !== undefined;

// A module with one function, of an instruction that not every engine has: i32x4.relaxed_dot_i8x16_i7x16_add_s.
const RELAXED = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7b, 0x7b, 0x7b, 1, 0x7b, 3, 2, 1, 0,
    10, 13, 1, 11, 0, 0x20, 0, 0x20, 1, 0x20, 2, 0xfd, 0x93, 2, 11);

async function startThread(receive, fail) {
    const script = new URL("worker.js", import.meta.url);
    if (!node) {
        const worker = new Worker(script, {type: "module"});
        worker.onmessage = (event) => receive(event.data);
        worker.onerror = (event) => fail(event.message ?? "the thread could not be started");
        return worker;
    }
    const {Worker: Thread} = await import("node:worker_threads");
    const thread = new Thread(script);
    thread.on("message", receive);
    thread.on("error", (error) => fail(error.message));
    thread.unref(); // it does not keep the process alive, but while calls wait for it
    return thread;
}

/** What a worker can be given: a URL as it is meant here, bytes, or {files: [[name, either], …]}. */
function sourceOf(source) {
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source) || source instanceof Blob) return source;
    if (Array.isArray(source)) return {files: source.map((file) => [file.name, file])};
    if (source.constructor === Object)
        return {files: Object.entries(source).map(([name, each]) => [name, sourceOf(each)])};
    const base = globalThis.location?.href ?? (node ? `file://${globalThis.process.cwd()}/` : undefined);
    return new URL(source, base).href;
}

/** A model. Its calls are answered in their order. */
export class Ferry {
    /** Where the module is that is the fastest here. */
    static wasm = new URL(WebAssembly.validate(RELAXED) ? "ferry-relaxed.wasm" : "ferry.wasm", import.meta.url);
    /** How the model file describes itself. */
    info = {};
    /** The languages that `from` and `to` can name; empty: the model has one pair. */
    languages = [];
    #sources;
    #thread;
    #calls = new Map();
    #next = 0;

    /** `model`: a URL, an ArrayBuffer, or a File; or the files of a model of another system, as {name: any of these, …}
     * or a list of Files, which are converted. `wasm`: where the module is. */
    static async load(model, {wasm = Ferry.wasm} = {}) {
        const ferry = new Ferry();
        ferry.#sources = [sourceOf(wasm), sourceOf(model)];
        try {
            Object.assign(ferry, await ferry.#start());
        } catch (error) {
            ferry.close();
            throw error;
        }
        return ferry;
    }

    /** Starts a thread, which loads the model; calls that were not answered are made again. */
    async #start() {
        const waiting = [...this.#calls.values()];
        this.#calls.clear();
        this.#thread = startThread((message) => this.#receive(message), (reason) => {
            for (const call of this.#calls.values()) call.reject(new FerryError("IO", reason));
            this.#calls.clear();
        });
        const loaded = this.#call("load", this.#sources);
        for (const call of waiting) this.#send(call);
        return loaded;
    }

    #receive({id, value, error, partial, progress}) {
        const call = this.#calls.get(id);
        if (call === undefined) return;
        if (partial !== undefined) return call.options?.onPartial?.(...partial);
        if (progress !== undefined) return call.options?.onProgress?.(...progress);
        this.#calls.delete(id);
        if (this.#calls.size === 0) this.#thread.then((thread) => thread.unref?.());
        if (error !== undefined) call.reject(new FerryError(error.status, error.message));
        else call.resolve(value);
    }

    async #send(call) {
        const id = this.#next++;
        this.#calls.set(id, call);
        call.id = id;
        const thread = await this.#thread;
        thread.ref?.();
        thread.postMessage({id, name: call.name, values: call.values});
    }

    #call(name, values, options = {}) {
        const {signal} = options;
        return new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(signal.reason);
            const call = {name, values, options, resolve, reject};
            const abort = () => {
                this.#calls.delete(call.id);
                reject(signal.reason);
                this.#end();
                this.#start().catch(() => {}); // the calls that wait for it fail by themselves
            };
            signal?.addEventListener("abort", abort, {once: true});
            const settled = (settle) => (value) => {
                signal?.removeEventListener("abort", abort);
                settle(value);
            };
            call.resolve = settled(resolve);
            call.reject = settled(reject);
            this.#send(call);
        });
    }

    /** What of the options a thread is told. */
    static #told({from, to, beam, alignment, onPartial}) {
        const watched = onPartial !== undefined;
        return {from, to, beam: watched ? 1 : beam, alignment, watched};
    }

    /** Of a text its translation; of a list of texts, which are translated together, a list. */
    async translate(text, options = {}) {
        const told = Ferry.#told(options);
        if (Array.isArray(text)) return this.#call("lines", [text, told], options);
        return (await this.#call("translate", [text, told], options)).text;
    }

    /** The translation of a text with its sentences and, with `alignment`, what in it comes from what. */
    async explain(text, options = {}) {
        return this.#call("translate", [text, Ferry.#told(options)], options);
    }

    /** HTML, or a part of it, with every tag where it belongs. */
    async translateHtml(html, options = {}) {
        return (await this.translateDocument("html", html, options)).text;
    }

    /** A document of a format of ferry_documents.h: "html", "markdown", "po" …: {text, notes}. */
    async translateDocument(format, text, options = {}) {
        return this.#call("document", [format, text, Ferry.#told(options)], options);
    }

    /** Bytes of the module's memory, which never shrinks. */
    async memory() {
        return this.#call("memory", []);
    }

    #end() {
        this.#thread?.then((thread) => thread.terminate());
        this.#thread = undefined;
    }

    /** Ends the thread, and gives its memory back. Calls that were not answered fail. */
    close() {
        this.#end();
        for (const call of this.#calls.values()) call.reject(new FerryError("CANCELLED", "the model was closed"));
        this.#calls.clear();
    }
}
