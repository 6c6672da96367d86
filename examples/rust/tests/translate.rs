//! With the model that ships, or FERRY_MODEL.
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, thread};

use ferry::{Canceller, Error, Glossary, Model, OpenFlags, Roles, Status, Translator};

fn path() -> PathBuf {
    match std::env::var_os("FERRY_MODEL") {
        Some(path) => path.into(),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pretrained/tatoeba-en-de.gguf").into(),
    }
}

fn model() -> Model {
    Model::open(path()).unwrap()
}

fn texts(translator: &mut Translator, lines: &[&str]) -> Vec<String> {
    let translations = translator.translate(lines).unwrap();
    assert_eq!(translations.len(), lines.len());
    translations.iter().map(|line| line.unwrap().text().into_owned()).collect()
}

fn refused<T>(result: Result<T, Error>, status: Status, part: &str) {
    let error = result.err().expect("an error");
    assert_eq!(error.status, status, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn lines() {
    let model = model();
    let mut translator = Translator::new(&model, model.options()).unwrap();
    assert_eq!(
        texts(&mut translator, &["Good morning!", " ", "How are you?"]),
        ["Guten Morgen!", " ", "Wie geht es dir?"]
    );
    assert!(texts(&mut translator, &[]).is_empty());
}

#[test]
fn glossaries() {
    let model = model();
    let glossary = Glossary::new(&[("landlord", &["Vermieter", "Vermieters"]), ("Ferry", &[])]).unwrap();
    let mut options = model.options();
    options.glossary = Some(&glossary);
    let mut translator = Translator::new(&model, options).unwrap();
    let found = texts(&mut translator, &["My landlord is old.", "I like Ferry.", "Good morning!"]);
    assert!(found[0].contains("Vermieter") && found[1].contains("Ferry") && found[2] == "Guten Morgen!", "{found:?}");
    refused(Glossary::new(&[("a", &[" "])]), Status::FERRY_ERROR_ARGUMENT, "found a blank one");
    let mut options = model.options();
    options.glossary = Some(&glossary);
    options.beam = 1;
    options.sample = 1;
    refused(Translator::new(&model, options), Status::FERRY_ERROR_ARGUMENT, "with a glossary");
}

#[test]
fn hypotheses() {
    let model = model();
    let mut options = model.options();
    (options.beam, options.nbest, options.scores) = (4, 3, 1);
    let mut translator = Translator::new(&model, options).unwrap();
    let translations = translator.translate(&["Good morning!"]).unwrap();
    drop(translator); // a result outlives it
    let line = translations.iter().next().unwrap().unwrap();
    let hypotheses: Vec<_> = line.hypotheses().collect();
    assert_eq!(hypotheses.len(), 3);
    assert_eq!(hypotheses[0].text(), line.text());
    assert!(hypotheses.windows(2).all(|pair| pair[0].score() > pair[1].score() && pair[0].text() != pair[1].text()));
    assert_eq!(line.warning(), None);
}

#[test]
fn sentences() {
    let model = model();
    let mut translator = Translator::new(&model, model.options()).unwrap();
    let text = "\tGood morning!  How are you?\n\nGood morning!\n";
    let translation = translator.translate_text(text).unwrap();
    assert_eq!(translation.text(), "\tGuten Morgen!  Wie geht es dir?\n\nGuten Morgen!\n");
    assert!(translation.error().is_none());
    let whole = translation.text();
    let pairs: Vec<_> = translation.sentences().map(|s| (&text[s.source], &whole[s.target])).collect();
    let morning = ("Good morning!", "Guten Morgen!");
    assert_eq!(pairs, [morning, ("How are you?", "Wie geht es dir?"), morning]);
}

#[test]
fn alignment() {
    let model = model();
    let mut options = model.options();
    options.alignment = 1;
    let mut translator = Translator::new(&model, options).unwrap();
    let text = "Good morning! How are you?";
    let translation = translator.translate_text(text).unwrap();
    assert_eq!(translation.sentences().count(), 2);
    for sentence in translation.sentences() {
        let line = sentence.line.unwrap();
        let source = &text[sentence.source];
        assert_eq!(line.text(), translation.text()[sentence.target]);
        let tokens = line.tokens();
        let words: String = tokens.iter().map(|token| &source[token.range.clone()]).collect();
        assert_eq!(words, source.replace(' ', ""));
        let hypothesis = line.hypotheses().next().unwrap();
        let target = hypothesis.text();
        let words: Vec<_> = hypothesis.tokens().into_iter().map(|token| target[token.range].to_string()).collect();
        assert_eq!(words.concat(), target.replace(' ', ""));
        for token in 0..words.len() {
            let (first, weights) = hypothesis.weights(token);
            assert!(first + weights.len() <= tokens.len());
            let sum: f32 = weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        }
        assert!(hypothesis.weights(words.len()).1.is_empty());
    }
}

#[test]
fn scores() {
    let model = model();
    let mut options = model.options();
    options.scores = 1;
    let mut translator = Translator::new(&model, options).unwrap();
    let translated = translator.translate(&["Good morning!"]).unwrap();
    let expected = translated.iter().next().unwrap().unwrap().hypotheses().next().unwrap().score();
    let scored = translator.score(&["Good morning!"; 2], &["Guten Morgen!", "Wie geht es dir?"]).unwrap();
    let scores: Vec<_> = scored.iter().map(|line| line.unwrap().hypotheses().next().unwrap().score()).collect();
    assert!((scores[0] - expected).abs() < 1e-4, "{scores:?}, {expected}");
    assert!(scores[1] < scores[0] - 1.0, "{scores:?}");
    refused(translator.score(&["a", "b"], &["c"]), Status::FERRY_ERROR_ARGUMENT, "2 lines");
}

#[test]
fn what_the_file_says() {
    let model = model();
    let info: Vec<_> = model.info().collect();
    assert!(info.iter().any(|(key, value)| key == "languages" && value == "en de"), "{info:?}");
    let languages: Vec<_> = model.languages().collect();
    assert_eq!(languages.iter().map(|language| &*language.tag).collect::<Vec<_>>(), ["en", "de"]);
    assert_eq!(languages[1].english, "German");
    assert_eq!(languages[0].roles, Roles::FERRY_LANGUAGE_SOURCE | Roles::FERRY_LANGUAGE_DEFAULT_SOURCE);
    model.verify().unwrap();
}

#[test]
fn bytes() {
    let mut bytes = fs::read(path()).unwrap();
    let copy = Model::from_bytes(&bytes).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    copy.verify().unwrap();
    refused(Model::from_bytes(&bytes).unwrap().verify(), Status::FERRY_ERROR_FORMAT, "damaged");
    refused(Model::from_bytes(b"GGUF"), Status::FERRY_ERROR_FORMAT, "");
    Model::open_with(path(), OpenFlags::FERRY_OPEN_COPY | OpenFlags::FERRY_OPEN_NO_AMX).unwrap();
}

#[test]
fn errors() {
    refused(Model::open("no such file"), Status::FERRY_ERROR_IO, "no such file");
    refused(Model::open("a\0b"), Status::FERRY_ERROR_ARGUMENT, "nul");
    let model = model();
    let mut options = model.options();
    options.beam = 0;
    let error = Translator::new(&model, options).err().unwrap();
    assert_eq!((error.status, error.argument.as_deref()), (Status::FERRY_ERROR_ARGUMENT, Some("beam")));
    let mut options = model.options();
    options.to = Some("tlh".into());
    refused(Translator::new(&model, options), Status::FERRY_ERROR_ARGUMENT, "tlh");
    let mut options = model.options();
    options.memory_limit = 1 << 17;
    let mut translator = Translator::new(&model, options).unwrap();
    let translations = translator.translate(&["Good morning!", ""]).unwrap();
    let mut lines = translations.iter();
    refused(lines.next().unwrap(), Status::FERRY_ERROR_LIMIT, "memory_limit");
    lines.next().unwrap().unwrap();
    assert!(lines.next().is_none());
}

/// Threads share a model; translators can move to another thread.
#[test]
fn threads() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Model>();
    sync::<Model>();
    send::<Translator>();
    send::<Canceller>();
    sync::<Canceller>();
    let model = model();
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut translator = Translator::new(&model, model.options()).unwrap();
            scope.spawn(move || assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]));
        }
    });
}

#[test]
fn progress() {
    let model = model();
    let calls = AtomicUsize::new(0);
    let mut options = model.options();
    options.batch = 1;
    options.progress = Some(Box::new(|done, total| {
        assert!(done <= total);
        match calls.fetch_add(1, Ordering::Relaxed) {
            1 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }));
    let mut translator = Translator::new(&model, options).unwrap();
    let translations = translator.translate(&["Good morning!"; 50]).unwrap();
    let finished = translations.iter().filter(|line| line.is_ok()).count();
    assert!((1..50).contains(&finished), "{finished}");
    let unfinished = translations.iter().find(|line| line.is_err()).unwrap();
    refused(unfinished, Status::FERRY_ERROR_CANCELLED, "");
    // Afterwards the translator is as good as new.
    assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]);
}

#[test]
fn panicking_progress() {
    let model = model();
    let mut options = model.options();
    let mut first = true;
    options.progress = Some(Box::new(move |_, _| {
        assert!(!std::mem::take(&mut first), "progress panics");
        ControlFlow::Continue(())
    }));
    let mut translator = Translator::new(&model, options).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| translator.translate(&["Good morning!"]).is_ok())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"progress panics"));
    assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]);
}

#[test]
fn partial() {
    let model = model();
    for threads in [1, 2] {
        let seen = Mutex::new(Vec::new());
        let mut options = model.options();
        (options.beam, options.threads) = (1, threads);
        options.partial = Some(Box::new(|line, text| {
            seen.lock().unwrap().push((line, text.to_string()));
            ControlFlow::Continue(())
        }));
        let mut translator = Translator::new(&model, options).unwrap();
        let translated = texts(&mut translator, &["Good morning!", "Where is the nearest station, please?"]);
        drop(translator);
        for (line, text) in translated.iter().enumerate() {
            let of_line: Vec<_> =
                seen.lock().unwrap().iter().filter(|(l, _)| *l == line).map(|(_, t)| t.clone()).collect();
            assert!(of_line.len() > 2, "{of_line:?}");
            assert_eq!(of_line.last(), Some(text));
        }
    }
}

#[test]
fn panicking_partial() {
    let model = model();
    let mut options = model.options();
    (options.beam, options.threads) = (1, 2);
    options.partial = Some(Box::new(|_, text| panic!("partial: {text}")));
    let mut translator = Translator::new(&model, options).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| translator.translate(&["Good morning!"; 9]).is_ok())).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().starts_with("partial: "));
}

#[test]
fn steering() {
    let model = model();
    let mut options = model.options();
    (options.beam, options.alternatives, options.nbest) = (1, 1, 3);
    let mut translator = Translator::new(&model, options).unwrap();
    let translations = translator.translate_prefixed(&["Good morning!"], &["Guten Tag"]).unwrap();
    let hypotheses: Vec<_> = translations.iter().next().unwrap().unwrap().hypotheses().collect();
    assert_eq!(hypotheses.len(), 3);
    assert!(hypotheses.iter().all(|hypothesis| hypothesis.text().starts_with("Guten Tag")));
    let draw = |seed| {
        let mut options = model.options();
        (options.beam, options.sample, options.temperature, options.seed) = (1, 1, 3.0, seed);
        texts(&mut Translator::new(&model, options).unwrap(), &["Where is the nearest station, please?"])
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

fn cancelled_at_once(translator: &mut Translator) {
    let translation = translator.translate_text("Good morning!").unwrap();
    assert_eq!(translation.error().expect("an error").status, Status::FERRY_ERROR_CANCELLED);
}

#[test]
fn cancelling() {
    let model = model();
    let mut translator = Translator::new(&model, model.options()).unwrap();
    let canceller = translator.canceller();
    let long = "Where is the nearest station, please? ".repeat(100_000);
    let translation = thread::scope(|scope| {
        let translating = scope.spawn(|| translator.translate_text(&long).unwrap());
        thread::sleep(Duration::from_millis(20)); // mostly within the call
        canceller.cancel();
        translating.join().unwrap()
    });
    assert_eq!(translation.error().unwrap().status, Status::FERRY_ERROR_CANCELLED);
    let finished = translation.sentences().filter(|sentence| sentence.line.is_ok()).count();
    assert!(finished < 100_000, "{finished}");
    // A job may have several calls; those of another one are not concerned.
    cancelled_at_once(&mut translator);
    let newer = translator.canceller();
    canceller.cancel();
    assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]);
    newer.clone().cancel();
    cancelled_at_once(&mut translator);
    drop(translator);
    newer.cancel(); // nothing is left to end
}

/// A translator's calls belong to no job until the first `canceller`.
#[test]
fn cancelling_before_a_call() {
    let model = model();
    let mut translator = Translator::new(&model, model.options()).unwrap();
    assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]);
    for _ in 0..50 {
        translator.canceller().cancel();
        cancelled_at_once(&mut translator);
        let canceller = translator.canceller();
        let cancelling = thread::spawn(move || canceller.cancel());
        translator.canceller();
        assert_eq!(texts(&mut translator, &["Good morning!"]), ["Guten Morgen!"]);
        cancelling.join().unwrap();
    }
}
