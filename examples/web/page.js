// The page: a model, a text that is translated while it is typed, and documents that are dropped.
import {Ferry} from "./ferry/ferry.js";
import {Texts} from "./words.js";

const FORMATS = {html: "html", htm: "html", txt: "text", md: "markdown", srt: "srt", vtt: "vtt", po: "po", json: "json"};
const SHIPPED = "model.gguf";
const PATIENCE = 1000; // milliseconds after which a translation that nobody waits for any more is ended

const element = (id) => document.getElementById(id);
const [source, translation, from, to, stop] = ["source", "translation", "from", "to", "stop"].map(element);
const texts = new Texts(element("echo"), translation);
const running = new Set(); // an AbortController for each call that Stop ends

let ferry; // the model
let origin; // what it was loaded from
let known = new Map(); // of each line of the text, what Ferry.explain said
let shown = []; // of each line, its translation on the page
let announced = new Set(); // lines whose translations a screen reader was given
let busy = false; // with the text
let changed = false; // it has, since it was looked at
let current; // what is being translated of it: {line, found, controller, started}
let loading = 0; // how many models there were to load; only the last one counts

function say(status, error = "") {
    element("status").textContent = status;
    element("error").textContent = error;
}

/** Calls body(signal), which Stop ends, or another who has the controller. */
async function stoppable(body, controller = new AbortController()) {
    running.add(controller);
    stop.disabled = false;
    try {
        return await body(controller.signal);
    } finally {
        running.delete(controller);
        stop.disabled = running.size === 0;
    }
}

// ---- the model ----

const languages = () => ({from: from.value || undefined, to: to.value || undefined});

/** A name of a language that HTML knows. */
const html = ({tag, names}) => [tag, ...names].find((name) => /^[a-z]{2,3}$/.test(name)) ?? "";

function offer(select, side, preferred) {
    const choices = ferry.languages.filter((language) => language[side]);
    select.replaceChildren(...choices.map((language) => {
        const option = new Option(language.english || language.tag, language.tag, language[preferred], language[preferred]);
        option.lang = html(language);
        return option;
    }));
    select.disabled = choices.length < 2;
}

async function load(model, name) {
    const own = ++loading;
    say(`Loading ${name}…`);
    try {
        const loaded = await Ferry.load(model);
        if (own !== loading) return loaded.close();
        ferry?.close();
        [ferry, origin] = [loaded, model];
    } catch (error) {
        const expected = "; expected a model (.gguf, or Firefox's three files) or a document (.html, .txt, …)";
        if (own === loading) say(ferry === undefined ? "" : `${ferry.info.name} stays.`, `${name}: ${error.message}${expected}`);
        return;
    }
    offer(from, "source", "defaultSource");
    offer(to, "target", "defaultTarget");
    say(`${ferry.info.name} is ready.`);
    restart();
}

/** After another model or language. */
function restart() {
    [known, shown, announced] = [new Map(), [], new Set()];
    [source.lang, translation.lang] = [from, to].map((select) => select.selectedOptions[0]?.lang ?? "");
    element("echo").lang = source.lang;
    update();
}

// ---- the text ----

/** Shows what is known of the text; of a line that is not, what there is of its translation, unless an earlier one is longer. */
function render(lines, growing = "") {
    const pairs = [], troubles = [];
    let [left, right] = [0, 0];
    shown = lines.map((line, i) => {
        const longer = growing.length < (shown[i]?.length ?? 0) ? shown[i] : growing;
        const {text, sentences} = known.get(line) ?? {text: longer, sentences: []};
        if (!known.has(line)) growing = "";
        for (const {pairs: own, error, warning} of sentences) {
            pairs.push(...own.map(([a, b, c, d]) => [left + a, left + b, right + c, right + d]));
            if (error ?? warning) troubles.push(error ?? warning);
        }
        left += line.length + 1;
        right += text.length + 1;
        return text;
    });
    texts.show(source.value, shown.join("\n"), pairs);
    element("troubles").textContent = troubles.join("; ");
    light();
}

/** Translates a line; shows how it grows, at most once for each picture on the screen. */
async function translateLine(line, lines) {
    const sentences = [], controller = new AbortController();
    let frame;
    const onPartial = (sentence, text) => {
        sentences[sentence] = text;
        frame ??= requestAnimationFrame(() => {
            frame = undefined;
            if (!changed) render(lines, sentences.filter(Boolean).join(" "));
        });
    };
    current = {line, found: known, controller, started: performance.now()};
    try {
        return await stoppable((signal) => ferry.explain(line, {...languages(), alignment: true, signal, onPartial}), controller);
    } finally {
        cancelAnimationFrame(frame);
    }
}

/** Translates the lines that are not known, until the text changes. */
async function translateLines() {
    const lines = source.value.split("\n"), found = known;
    for (const line of lines) {
        if (found.has(line)) continue;
        found.set(line, await translateLine(line, lines));
        if (changed) return;
    }
    known = new Map(lines.map((line) => [line, found.get(line)]));
    render(lines);
    const news = lines.filter((line) => !announced.has(line)).map((line) => found.get(line).text);
    if (news.length > 0) element("news").textContent = news.join("\n");
    announced = new Set(lines);
}

/** Ends what is being translated, if the text has changed so that nobody waits for it, and its time is over. */
function hurry({line, found, controller, started}) {
    const left = started + PATIENCE - performance.now();
    const wanted = () => found === known && source.value.split("\n").includes(line);
    setTimeout(() => wanted() || controller.abort(), Math.max(left, 0));
}

/** Translates the text as it is now. */
async function update() {
    changed = true;
    render(source.value.split("\n"));
    if (busy) hurry(current);
    if (busy || ferry === undefined) return;
    busy = true;
    while (changed) {
        changed = false;
        await translateLines().catch((error) => changed || say("", error.name === "AbortError" ? "stopped" : error.message));
    }
    busy = false;
}

function sayPair(pair) {
    if (element("pair").textContent !== pair) element("pair").textContent = pair;
}

/** Lights up the word at the cursor. */
function light() {
    sayPair(texts.light(document.activeElement === source ? texts.at(source.selectionStart) : undefined));
}

// ---- documents ----

async function read(file) {
    const bytes = await file.arrayBuffer();
    try {
        return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
    } catch {
        throw new Error("expected UTF-8, found other bytes");
    }
}

/** On a thread of its own, so that the text does not wait for it. */
async function translateDocument(text, format, model, options) {
    const own = await Ferry.load(model);
    try {
        return await own.translateDocument(format, text, options);
    } finally {
        own.close();
    }
}

/** Gives a link to a translated document, and says what is to be said of it. */
function deliver(file, {text, notes}, language) {
    const link = document.createElement("a"), item = document.createElement("li");
    link.download = file.name.replace(/\.[^.]*$/, `.${language || "translated"}$&`);
    link.href = URL.createObjectURL(new Blob([text], {type: file.type}));
    link.textContent = link.download;
    item.append(link, ...notes.map(({line, message}) => `; line ${line}: ${message}`));
    element("documents").append(item);
    say(`${file.name} is translated.`);
}

async function openDocument(file, format) {
    const [model, options, language] = [origin, languages(), translation.lang]; // as they are now
    options.onProgress = (done, total) => say(`Translating ${file.name}: ${done} of ${total} sentences.`);
    say(`Translating ${file.name}…`);
    try {
        if (model === undefined) throw new Error("there is no model yet");
        const text = await read(file);
        const made = await stoppable((signal) => translateDocument(text, format, model, {...options, signal}));
        deliver(file, made, language);
    } catch (error) {
        say("", `${file.name}: ${error.name === "AbortError" ? "stopped" : error.message}`);
    }
}

/** Translates the documents among files; the others are a model. */
async function open(files) {
    const model = [];
    for (const file of files) {
        const format = FORMATS[file.name.split(".").pop().toLowerCase()];
        if (format === undefined) model.push(file);
        else await openDocument(file, format);
    }
    if (model.length > 0) await load(model.length === 1 ? model[0] : model, model.map(({name}) => name).join(", "));
}

// ---- times without a network ----

/** Keeps what the page consists of; service-worker.js gives it back. */
async function keep() {
    await navigator.serviceWorker.register("service-worker.js");
    const cache = await caches.open("ferry");
    const modules = ["ferry", "error", "module", "worker"].map((name) => `ferry/${name}.js`);
    await cache.addAll(["./", "style.css", "page.js", "words.js", ...modules, Ferry.wasm, SHIPPED]);
}

// ---- events ----

source.addEventListener("input", update);
document.addEventListener("selectionchange", light);
translation.addEventListener("mouseover", (event) => sayPair(texts.light(event.target)));
translation.addEventListener("mouseleave", light);
from.addEventListener("change", restart);
to.addEventListener("change", restart);
stop.addEventListener("click", () => {
    changed = false;
    running.forEach((controller) => controller.abort());
    source.focus(); // the button, which had it, is disabled
});
element("files").addEventListener("change", (event) => {
    open([...event.target.files]);
    event.target.value = ""; // the same file may come again
});
for (const [name, dropping] of [["dragover", true], ["dragleave", false], ["drop", false]])
    document.addEventListener(name, (event) => {
        if (!event.dataTransfer.types.includes("Files")) return; // words, within the text
        event.preventDefault();
        document.body.classList.toggle("dropping", dropping);
        if (name === "drop") open([...event.dataTransfer.files]);
    });

await load(SHIPPED, "the model that ships");
if (navigator.serviceWorker !== undefined)
    keep().catch((error) => say(element("status").textContent, `It will not work without a network: ${error.message}`));
