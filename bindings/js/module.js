// ferry.wasm on the thread that runs this: structs of ferry.h as they lie in the module's memory (32-bit pointers).
import {FerryError} from "./error.js";

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", {ignoreBOM: true}); // what is not translated stays

const STATUS = ["OK", "ARGUMENT", "MEMORY", "IO", "FORMAT", "UNSUPPORTED", "LIMIT", "CANCELLED"];
const ERROR_SIZE = 512; // ferry_error
const TOKEN_SIZE = 16; // ferry_token
const ENTRY_SIZE = 16; // ferry_glossary_entry
const ROLE = {source: 1, target: 2, defaultSource: 4, defaultTarget: 8};
const QUALITY = {1: "cut", 2: "loop", 4: "short", 8: "unknown", 16: "number", 32: "term"};

/** The functions of WASI that the C library asks for: a clock, random numbers, and where C++ writes before it ends. */
function system(memory, random) {
    const view = () => new DataView(memory().buffer);
    const EBADF = 8;
    return {
        clock_time_get(id, precision, time) {
            view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        random_get(bytes, size) {
            random.getRandomValues(new Uint8Array(memory().buffer, bytes, size));
            return 0;
        },
        environ_sizes_get(count, size) {
            view().setUint32(count, 0, true);
            view().setUint32(size, 0, true);
            return 0;
        },
        environ_get: () => 0,
        fd_write: () => EBADF,
        fd_read: () => EBADF,
        fd_seek: () => EBADF,
        fd_close: () => EBADF,
        fd_fdstat_get: () => EBADF,
        proc_exit(code) {
            throw Object.assign(new FerryError("MEMORY", `the module ended with ${code}`), {ends: true});
        },
    };
}

/** An instance of ferry.wasm, with one model. `watch`: {progress(done, total), partial(sentence, text)}, or neither. */
export class Module {
    static async create(wasm, watch = {}) {
        const self = new Module();
        const memory = () => self.c.memory;
        // Node 18 has it there alone.
        const random = globalThis.crypto ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:crypto")).webcrypto;
        const exports = (await WebAssembly.instantiate(wasm, {
            wasi_snapshot_preview1: system(memory, random),
            ferry: {
                progress(done, total) {
                    watch.progress?.(done, total);
                    return 0;
                },
                partial(sentence, data, size) {
                    watch.partial?.(sentence, self.text(data >>> 0, size));
                    return 0;
                },
            },
        })).exports;
        self.c = {memory: exports.memory};
        for (const [name, call] of Object.entries(exports)) // pointers from 2 GiB on are negative otherwise
            if (typeof call === "function") self.c[name] = (...values) => call(...values) >>> 0;
        exports._initialize();
        self.error = self.allocate(ERROR_SIZE);
        self.slot = self.allocate(TOKEN_SIZE); // what functions return
        return self;
    }

    // ---- memory ----

    /** Throws what the module says, and where it cannot say anything, that there is no memory. */
    allocate(size) {
        const pointer = size < 2 ** 32 ? this.c.ferry_js_allocate(size) : 0;
        if (pointer === 0) throw new FerryError("MEMORY", `out of memory: ${size} bytes`);
        return pointer;
    }

    word(pointer) {
        return new DataView(this.c.memory.buffer).getUint32(pointer, true);
    }

    text(data, size) {
        return text.decode(new Uint8Array(this.c.memory.buffer, data, size));
    }

    /** A NUL-terminated text, or null. */
    words(data) {
        if (data === 0) return null;
        const bytes = new Uint8Array(this.c.memory.buffer);
        return this.text(data, bytes.indexOf(0, data) - data);
    }

    /** Calls body(pointer) with memory that is its own. */
    lend(size, body) {
        const pointer = this.allocate(size);
        try {
            return body(pointer);
        } finally {
            this.c.ferry_js_free(pointer);
        }
    }

    /** Calls body(pointer) with a NUL-terminated copy of a text; 0 for null. */
    named(name, body) {
        if (name === null) return body(0);
        const bytes = utf8.encode(`${name}\0`);
        return this.lend(bytes.length, (pointer) => {
            new Uint8Array(this.c.memory.buffer).set(bytes, pointer);
            return body(pointer);
        });
    }

    /** Calls body(list) with a copy of texts, Uint8Arrays: ferry_text [texts.length], and their bytes behind it. */
    texts(texts, body) {
        const table = 8 * texts.length;
        return this.lend(texts.reduce((size, bytes) => size + bytes.length, table), (list) => {
            const memory = new Uint8Array(this.c.memory.buffer), view = new DataView(this.c.memory.buffer);
            let at = list + table;
            texts.forEach((bytes, i) => {
                memory.set(bytes, at);
                view.setUint32(list + 8 * i, at, true);
                view.setUint32(list + 8 * i + 4, bytes.length, true);
                at += bytes.length;
            });
            return body(list);
        });
    }

    /** The pointer that a function sets: call(result) returns a ferry_status. */
    made(call) {
        const status = call(this.slot);
        if (status !== 0) throw new FerryError(STATUS[status] ?? "FORMAT", this.words(this.error + 4));
        return this.word(this.slot);
    }

    /** Calls body(result) with a result that call(made) makes. */
    result(call, destroy, body) {
        const result = this.made(call);
        try {
            return body(result);
        } finally {
            destroy(result);
        }
    }

    // ---- models ----

    /** Opens a model file, a Uint8Array, which is copied. */
    open(bytes) {
        this.close();
        this.data = this.allocate(bytes.length);
        new Uint8Array(this.c.memory.buffer).set(bytes, this.data);
        try {
            this.model = this.made((model) => this.c.ferry_model_open_memory(this.data, bytes.length, 0, model, this.error));
        } catch (error) {
            this.close();
            throw error;
        }
    }

    /** Opens what files of another system are converted to: {name: Uint8Array, …}, which are copied. */
    convert(files) {
        this.close();
        try {
            for (const [name, bytes] of Object.entries(files)) {
                const data = this.allocate(bytes.length);
                new Uint8Array(this.c.memory.buffer).set(bytes, data);
                if (this.named(name, (name) => this.c.ferry_js_add_file(name, data, bytes.length)) !== 0) continue;
                this.c.ferry_js_free(data);
                throw new FerryError("LIMIT", `${name}: a name that is too long, or too many files`);
            }
            this.model = this.made((model) => this.c.ferry_js_convert(model, this.error));
        } catch (error) {
            this.close();
            throw error;
        }
    }

    close() {
        this.c.ferry_translator_destroy(this.translator ?? 0);
        this.c.ferry_model_close(this.model ?? 0);
        this.c.ferry_js_free(this.data ?? 0);
        this.c.ferry_js_remove_files();
        this.translator = this.model = this.data = undefined;
    }

    /** What the model's file says, by the keys of ferry_model_info. */
    info() {
        const info = {};
        for (let i = 0, key; (key = this.c.ferry_model_info_key(i)) !== 0; i++) {
            const value = this.words(this.c.ferry_model_info(this.model, key));
            if (value !== null) info[this.words(key)] = value;
        }
        return info;
    }

    languages() {
        const count = this.c.ferry_model_language_count(this.model);
        return Array.from({length: count}, (_, i) => {
            const language = this.c.ferry_model_language(this.model, i);
            const roles = this.word(language + 12);
            return {
                tag: this.words(this.word(language)),
                names: this.words(this.word(language + 4)).split(" ").filter((name) => name !== ""),
                english: this.words(this.word(language + 8)),
                ...Object.fromEntries(Object.entries(ROLE).map(([role, bit]) => [role, (roles & bit) !== 0])),
            };
        });
    }

    // ---- translating ----

    /** Calls body(glossary) with one of entries [[source, [target, …]], …]; 0 for null. */
    glossary(entries, body) {
        if (entries === null) return body(0);
        const texts = entries.flatMap(([source, targets]) => [source, ...targets]).map((each) => utf8.encode(each));
        return this.texts(texts, (list) => this.lend(ENTRY_SIZE * entries.length, (table) => {
            const view = new DataView(this.c.memory.buffer);
            entries.forEach(([, targets], i) => {
                const words = [view.getUint32(list, true), view.getUint32(list + 4, true), list + 8, targets.length];
                words.forEach((word, k) => view.setUint32(table + ENTRY_SIZE * i + 4 * k, word, true));
                list += 8 * (1 + targets.length);
            });
            return this.result((made) => this.c.ferry_glossary_create(table, ENTRY_SIZE, entries.length, made, this.error),
                               this.c.ferry_glossary_destroy, body);
        }));
    }

    /** The translator for these options, which stays for the next call. */
    prepare({from = null, to = null, beam = 0, alignment = false, watched = false, glossary = null}) {
        const wanted = JSON.stringify([from, to, beam, alignment, watched, glossary]);
        if (this.translator !== undefined && this.wanted === wanted) return;
        this.c.ferry_translator_destroy(this.translator ?? 0);
        this.translator = undefined;
        this.translator = this.glossary(glossary, (glossary) => this.named(from, (from) => this.named(to, (to) =>
            this.made((translator) => this.c.ferry_js_translator(this.model, from, to, beam, alignment ? 1 : 0,
                                                                 watched ? 1 : 0, glossary, translator, this.error)))));
        this.wanted = wanted;
    }

    /** {text, sentences: [{source: [begin, end], target: [begin, end], error, warning, quality, pairs?}]}; positions
     * are those of JavaScript's strings. */
    translate(source, options = {}) {
        this.prepare(options);
        const bytes = utf8.encode(source);
        return this.texts([bytes], (text) =>
            this.result((made) => this.c.ferry_translate_text(this.translator, text, made, this.error), this.c.ferry_result_destroy,
                        (result) => this.read(result, bytes, options.alignment === true)));
    }

    /** Of each text, translated sentence by sentence, all of them together, its translation. */
    lines(lines, options = {}) {
        this.prepare(options);
        return this.texts(lines.map((line) => utf8.encode(line)), (list) =>
            this.result((made) => this.c.ferry_translate(this.translator, list, lines.length, made, this.error),
                        this.c.ferry_result_destroy, (result) => lines.map((_, line) => this.line(result, line))));
    }

    line(result, line) {
        const outcome = this.c.ferry_result_outcome(result, line);
        const status = this.word(outcome);
        if (status !== 0) throw new FerryError(STATUS[status], `text ${line}: ${this.words(this.word(outcome + 8))}`);
        this.c.ferry_result_text(this.slot, result, line, 0);
        return text.decode(this.bytes());
    }

    /** The bytes of a text that the module returned in the slot. */
    bytes() {
        return new Uint8Array(this.c.memory.buffer, this.word(this.slot), this.word(this.slot + 4)).slice();
    }

    read(result, source, alignment) {
        this.c.ferry_result_text(this.slot, result, 0, 0);
        const target = this.bytes();
        const at = {source: positions(source), target: positions(target)};
        const lines = this.c.ferry_result_sentences(result);
        const sentences = Array.from({length: this.c.ferry_result_sentence_count(result)}, (_, i) => {
            const sentence = this.c.ferry_result_sentence(result, i);
            const [a, b, c, d] = [0, 4, 8, 12].map((offset) => this.word(sentence + offset));
            const outcome = this.c.ferry_result_outcome(lines, i);
            const quality = this.word(outcome + 4);
            return {
                source: [at.source[a], at.source[b]],
                target: [at.target[c], at.target[d]],
                error: this.words(this.word(outcome + 8)),
                warning: this.words(this.word(outcome + 12)),
                quality: Object.keys(QUALITY).filter((bit) => (quality & bit) !== 0).map((bit) => QUALITY[bit]),
                ...(alignment ? {pairs: this.pairs(lines, i, (byte) => at.source[a + byte], (byte) => at.target[c + byte])}
                              : {}),
            };
        });
        return {text: text.decode(target), sentences};
    }

    /** Of each target token with text: [source begin, source end, target begin, target end], by its largest weight. */
    pairs(lines, line, source, target) {
        const pairs = [];
        const range = (status) => (status === 0 ? [this.word(this.slot + 8), this.word(this.slot + 12)] : [0, 0]);
        for (let token = 0; token < this.c.ferry_result_token_count(lines, line, 0); token++) {
            const [begin, end] = range(this.c.ferry_result_token(lines, line, 0, token, this.slot, TOKEN_SIZE));
            const weights = this.c.ferry_result_weights(lines, line, 0, token, this.slot, this.slot + 4);
            if (begin === end || weights === 0) continue;
            const [first, count] = [this.word(this.slot), this.word(this.slot + 4)];
            const values = new Float32Array(this.c.memory.buffer, weights, count);
            const best = first + values.indexOf(Math.max(...values));
            const [from, to] = range(this.c.ferry_result_source_token(lines, line, best, this.slot, TOKEN_SIZE));
            if (from < to) pairs.push([source(from), source(to), target(begin), target(end)]);
        }
        return pairs;
    }

    /** A document of ferry_documents.h: {text, notes: [{line, left, message}]}. */
    document(format, source, options = {}) {
        this.prepare({...options, alignment: false}); // as the call leaves it
        return this.named(format, (format) => this.texts([utf8.encode(source)], (document) =>
            this.result((made) => this.c.ferry_document_translate(this.model, this.translator, format, document, 0, made, this.error),
                        this.c.ferry_document_result_destroy, (result) => {
                this.c.ferry_document_result_text(this.slot, result);
                const done = {text: text.decode(this.bytes()), notes: []};
                for (let i = 0, note; (note = this.c.ferry_document_result_note(result, i)) !== 0; i++)
                    done.notes.push({line: this.word(note + 4), left: this.word(note + 8) === 1,
                                     message: this.words(this.word(note + 12))});
                return done;
            })));
    }
}

/** Of each byte of UTF-8, and of its end, the position in JavaScript's string of UTF-16. */
function positions(bytes) {
    const at = new Uint32Array(bytes.length + 1);
    let position = 0;
    bytes.forEach((byte, i) => {
        at[i] = position;
        if ((byte & 0xc0) !== 0x80) position += byte >= 0xf0 ? 2 : 1;
    });
    at[bytes.length] = position;
    return at;
}
