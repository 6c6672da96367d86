// The thread on which a model translates: takes {id, name, values}, answers {id, value} or {id, error}, and says in
// between {id, partial} and {id, progress}. After an error that is `broken`, nothing is known of the module's state.
import {FerryError} from "./error.js";
import {Module} from "./module.js";

const node = globalThis.process?.versions?.node !== undefined;
let port = globalThis;
let module, id; // of the call in progress

async function bytes(source) {
    if (source instanceof ArrayBuffer) return new Uint8Array(source);
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
    if (node && source.startsWith("file:"))
        return (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises")).readFile(new URL(source));
    try {
        const response = await fetch(source);
        if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
        return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
        throw new Error(`${source}: cannot be fetched: ${error.message}`);
    }
}

const calls = {
    async load(wasm, model) {
        const watch = {
            partial: (sentence, text) => port.postMessage({id, partial: [sentence, text]}),
            progress: (done, total) => port.postMessage({id, progress: [done, total]}),
        };
        module = await Module.create(await WebAssembly.compile(await bytes(wasm)), watch);
        if (model.files === undefined) module.open(await bytes(model));
        else module.convert(Object.fromEntries(await Promise.all(model.files.map(async ([name, source]) =>
            [name, await bytes(source)]))));
        return {info: module.info(), languages: module.languages()};
    },
    lines: (texts, options) => module.lines(texts, options),
    translate: (text, options) => module.translate(text, options),
    memory: () => module.c.memory.buffer.byteLength,
    document: (format, text, options) => module.document(format, text, options),
};

let last = Promise.resolve(); // calls are answered in their order

function receive(message) {
    last = last.then(async () => {
        id = message.id;
        try {
            port.postMessage({id, value: await calls[message.name](...message.values)});
        } catch (error) {
            const broken = !(error instanceof FerryError) || error.ends === true; // a trap
            port.postMessage({id, error: {status: error.status ?? "IO", message: error.message, broken}});
        }
    });
}

// Without waiting at the top level, which not every bundler's threads can do.
if (node)
    import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads").then(({parentPort}) => {
        port = parentPort;
        port.on("message", receive);
    });
else port.onmessage = (event) => receive(event.data);
