// Transformers.js on a thread of a page, with what compare_page.py serves.
import {env, pipeline} from "./transformers/transformers.min.js";

Object.assign(env, {allowRemoteModels: false, allowLocalModels: true, localModelPath: "/models/",
                    useBrowserCache: false});
Object.assign(env.backends.onnx.wasm, {wasmPaths: new URL("onnxruntime/", import.meta.url).href, numThreads: 1});

let translator;
const calls = {
    async load() {
        translator = await pipeline("translation", "marian", {dtype: "q8", device: "wasm"});
    },
    async translate(texts) {
        const made = []; // one by one: in a batch, a line that ends before the longest one gets words behind its end (4.3.2)
        for (const text of texts) made.push((await translator(text, {num_beams: 1, do_sample: false}))[0].translation_text);
        return made;
    },
};

onmessage = async ({data: {id, name, args}}) => {
    try {
        postMessage({id, result: await calls[name](...args)});
    } catch (error) {
        postMessage({id, error: {message: error.message}});
    }
};
