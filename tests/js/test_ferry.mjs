// The npm package, installed in an empty project, beside the program: the same texts, errors, cancelling, memory.
//     node test_ferry.mjs MODEL LINES TRANSLATIONS FIREFOX TRANSLATIONS
// FIREFOX: a folder with a model as Firefox downloads it. TRANSLATIONS: what the program makes of LINES with either.
import assert from "node:assert/strict";
import {copyFile, mkdtemp, readFile, readdir, rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {tmpdir} from "node:os";
import {test} from "node:test";
import * as buffer from "node:buffer";

import {Ferry, FerryError} from "ferry-translate";

const [model, lines, translations, firefox, ofFirefox] = process.argv.slice(2);
const File = globalThis.File ?? buffer.File; // Node 18 has it there
const texts = async (path) => (await readFile(path, "utf8")).split("\n").slice(0, -1);
const [sources, expected] = [await texts(lines), await texts(translations)];
const load = () => Ferry.load(pathToFileURL(model));

test("a list of texts is translated as by the program", async () => {
    const ferry = await load();
    assert.deepEqual(await ferry.translate(sources), expected);
    ferry.close();
});

test("a text, its sentences, and what comes from what", async () => {
    const ferry = await load();
    const text = "Good morning!  😀 It is late.\n";
    const {text: whole, sentences} = await ferry.explain(text, {alignment: true});
    assert.equal(await ferry.translate(text), whole);
    assert.equal(text.slice(...sentences[0].source), "Good morning!");
    assert.equal(sentences.at(-1).source[1], text.length - 1);
    assert.equal(whole.slice(...sentences[0].target), (await ferry.translate("Good morning!")));
    assert.match(whole, /\n$/);
    for (const {source, target, pairs} of sentences)
        for (const [a, b, c, d] of pairs) {
            assert.ok(source[0] <= a && a < b && b <= source[1] && target[0] <= c && c < d && d <= target[1]);
            assert.equal(text.slice(a, b), text.slice(a, b).trim());
        }
    ferry.close();
});

test("words that have a translation of their own", async () => {
    const ferry = await load();
    const glossary = {landlord: ["Vermieter", "Vermieters"], dog: "Katze", Ferry: null};
    const [one, other] = await ferry.translate(["My landlord has a dog.", "I like Ferry."], {glossary});
    for (const [word, text] of [["Vermieter", one], ["Katze", one], ["Ferry", other]]) assert.ok(text.includes(word), text);
    assert.doesNotMatch(await ferry.translate("My landlord has a dog."), /Katze/);
    assert.match(await ferry.translateHtml("<p>My landlord is old.</p>", {glossary}), /Vermieter/);
    assert.equal(await ferry.translate("Good morning!", {glossary: {}}), await ferry.translate("Good morning!"));
    for (const wrong of [5, null, {dog: 5}, {dog: ["Hund", null]}])
        await assert.rejects(ferry.translate("dog", {glossary: wrong}), {status: "ARGUMENT", message: /glossary: expected/});
    await assert.rejects(ferry.translate("dog", {glossary: {dog: " "}}), {status: "ARGUMENT", message: /found a blank one/});
    ferry.close();
});

test("a translation grows", async () => {
    const ferry = await load(), seen = [];
    const text = await ferry.translate("It is late.", {onPartial: (sentence, grown) => seen.push([sentence, grown])});
    assert.ok(seen.length > 1);
    assert.deepEqual(seen.at(-1), [0, text]);
    ferry.close();
});

test("HTML keeps its tags", async () => {
    const ferry = await load();
    assert.match(await ferry.translateHtml("<p>Good <b>morning</b>!</p>"), /^<p>[^<]*<b>[^<]+<\/b>[^<]*<\/p>$/);
    const {text, notes} = await ferry.translateDocument("html", "<p lang=en>It is late.</p>");
    assert.match(text, /<p lang=/);
    assert.deepEqual(notes, []);
    ferry.close();
});

test("a call that is aborted ends at once, and those behind it are answered", async () => {
    const ferry = await load(), controller = new AbortController();
    const long = ferry.translate("It was late because there was snow. ".repeat(2000), {signal: controller.signal});
    const next = ferry.translate(sources[0]);
    const begin = performance.now();
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(long, {name: "AbortError"});
    assert.ok(performance.now() - begin < 5000);
    assert.equal(await next, (await ferry.translate([sources[0]]))[0]);
    await assert.rejects(ferry.translate("x", {signal: controller.signal}), {name: "AbortError"});
    ferry.close();
});

test("calls that are aborted one after the other", async () => {
    const ferry = await load(), controllers = Array.from({length: 5}, () => new AbortController());
    const ended = controllers.map(({signal}, i) => assert.rejects(ferry.translate(sources[i], {signal}), {name: "AbortError"}));
    const next = ferry.translate(sources[5]);
    for (const controller of controllers) {
        controller.abort();
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(ended);
    assert.equal(await next, (await ferry.translate([sources[5]]))[0]);
    ferry.close();
});

test("a callback that throws rejects its call, and those behind it are answered", async () => {
    const ferry = await load(), thrown = new Error("mine");
    for (const name of ["onPartial", "onProgress"]) {
        const call = ferry.translate(sources[0], {[name]() { throw thrown; }}), next = ferry.translate(sources[1]);
        await assert.rejects(call, (error) => error === thrown);
        assert.equal(await next, (await ferry.translate([sources[1]]))[0]);
    }
    ferry.close();
});

// A function that the module lacks is as a trap: what it leaves is not known.
test("after a trap the calls that wait go on with a new thread", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ferry-js-")), wasm = join(folder, "trap.wasm");
    const bytes = await readFile(Ferry.wasm), name = "ferry_document_translate";
    bytes.write("x", bytes.indexOf(name));
    await writeFile(wasm, bytes);
    const ferry = await Ferry.load(pathToFileURL(model), {wasm: pathToFileURL(wasm)});
    const small = await ferry.memory();
    await ferry.translate("It was late because there was snow. ".repeat(200));
    assert.ok(await ferry.memory() > small);
    const trapped = ferry.translateHtml("<p>x</p>"), waiting = ferry.translate([sources[0]]), memory = ferry.memory();
    await assert.rejects(trapped, {name: "FerryError", message: new RegExp(name)});
    assert.deepEqual(await waiting, expected.slice(0, 1));
    assert.ok(await memory < small + 2 ** 22);
    ferry.close();
    await rm(folder, {recursive: true});
});

test("a document does not take the alignment of the texts that follow", async () => {
    const ferry = await load(), alignment = true;
    const before = await ferry.explain("It is late.", {alignment});
    await ferry.translateDocument("html", "<p>It is late.</p>", {alignment});
    assert.deepEqual(await ferry.explain("It is late.", {alignment}), before);
    assert.ok(before.sentences[0].pairs.length > 0);
    ferry.close();
});

test("a model that is gone when a call is aborted", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ferry-js-")), copy = join(folder, "copy.gguf");
    await copyFile(model, copy);
    const ferry = await Ferry.load(pathToFileURL(copy)), controller = new AbortController();
    await rm(folder, {recursive: true});
    const long = ferry.translate("It was late because there was snow. ".repeat(2000), {signal: controller.signal});
    const next = ferry.translate("x");
    controller.abort();
    await assert.rejects(long, {name: "AbortError"});
    for (const call of [next, ferry.translate("x")]) await assert.rejects(call, {status: "IO", message: /copy\.gguf/});
    ferry.close();
});

test("a mark at the beginning stays", async () => {
    const ferry = await load();
    const {text, sentences} = await ferry.explain("\ufeff\nIt is late.");
    assert.equal(text.slice(...sentences.at(-1).target), await ferry.translate("It is late."));
    assert.match(await ferry.translateHtml("\ufeff<p>It is late.</p>"), /^\ufeff<p>/);
    ferry.close();
});

test("arguments that are none", async () => {
    const ferry = await load(), refused = {name: "FerryError", status: "ARGUMENT"};
    for (const text of [null, undefined, 5, ["x", null], () => 1]) await assert.rejects(ferry.translate(text), refused);
    for (const beam of ["x", 2.5, -3, null, 0, NaN, Infinity, 2 ** 31, 2 ** 32, 2 ** 33 + 1, 1e300, 2n]) await assert.rejects(ferry.translate("x", {beam}), refused);
    await assert.rejects(ferry.translate("x", {from: () => 1}), {name: "DataCloneError"});
    assert.equal((await ferry.translate([])).length, 0);
    for (const source of [undefined, null, 5]) await assert.rejects(Ferry.load(source), refused);
    ferry.close();
    await assert.rejects(ferry.translate("x"), {status: "CANCELLED"});
    const bytes = await readFile(model);
    const view = await Ferry.load(new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    assert.deepEqual(await view.translate(sources.slice(0, 1)), expected.slice(0, 1));
    view.close();
});

test("errors say what is wrong", async () => {
    const ferry = await load();
    await assert.rejects(ferry.translate("x", {from: "xx"}), (error) =>
        error instanceof FerryError && error.status === "ARGUMENT" && error.message.includes("'xx'"));
    await assert.rejects(ferry.translateDocument("doc", "x"), {status: "ARGUMENT"});
    const waiting = ferry.translate("x");
    ferry.close();
    await assert.rejects(waiting, {status: "CANCELLED"});
    await assert.rejects(Ferry.load(new Uint8Array(100)), {status: "FORMAT", message: "memory: not a GGUF file"});
    await assert.rejects(Ferry.load((await readFile(model)).subarray(0, 4000)), {status: "FORMAT"});
    await assert.rejects(Ferry.load("no/such/file"), {status: "IO"});
});

test("a model as Firefox downloads it is converted in memory", async () => {
    const names = await readdir(firefox);
    const files = Object.fromEntries(names.map((name) => [name, pathToFileURL(join(firefox, name))]));
    const ferry = await Ferry.load(files);
    assert.equal(ferry.info.origin, "bergamot");
    assert.deepEqual(await ferry.translate(sources), await texts(ofFirefox));
    ferry.close();
    const bytes = await Promise.all(names.map((name) => readFile(join(firefox, name))));
    const ofBytes = await Ferry.load(names.map((name, i) => new File([bytes[i]], name)));
    assert.deepEqual(await ofBytes.translate(sources), await texts(ofFirefox));
    ofBytes.close();
    await assert.rejects(Ferry.load({...files, "vocab.ende.spm": new Uint8Array(9)}), {status: "FORMAT"});
    await assert.rejects(Ferry.load({"a.txt": bytes[0]}), {status: "UNSUPPORTED"});
    await assert.rejects(Ferry.load({["x".repeat(300)]: bytes[0]}), {status: "LIMIT"});
});

test("what SentencePiece throws is an error", async () => {
    const bytes = new Uint8Array(await readFile(model));
    const name = new TextEncoder().encode("ferry.tokenizer.source.model");
    const at = bytes.findIndex((_, i) => name.every((byte, k) => bytes[i + k] === byte));
    assert.ok(at > 0);
    bytes.fill(0xff, at + name.length + 16, at + name.length + 80); // after the type, and the count, of the key's value
    await assert.rejects(Ferry.load(bytes), {status: "FORMAT", message: /SentencePiece/});
});

test("memory stays after a hundred translations", async () => {
    const ferry = await load();
    const memory = () => ferry.memory();
    for (let i = 0; i < 10; i++) await ferry.translate(sources.slice(0, 8));
    const before = await memory();
    for (let i = 0; i < 100; i++) await ferry.translate(sources.slice(0, 8));
    assert.equal(await memory(), before);
    ferry.close();
});
