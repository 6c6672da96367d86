use std::any::Any;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::options::{Partial, Progress};
use crate::result::Owned;
use crate::{make, str_of, sys, Error, Model, Options, Status, Translation, Translations};

/// Translates with a model, in one thread at a time, and not longer than the model is there:
///
/// ```compile_fail,E0505
/// let model = ferry::Model::open("model.gguf").unwrap();
/// let mut translator = ferry::Translator::new(&model, model.options()).unwrap();
/// drop(model);
/// translator.translate(&["Good morning!"]).unwrap();
/// ```
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<ferry::Translator>();
/// ```
pub struct Translator<'m> {
    raw: NonNull<sys::ferry_translator>,
    callbacks: NonNull<Callbacks<'m>>, // a Box, which the library points to
    alive: Arc<Mutex<Option<Alive>>>,
    model: PhantomData<&'m Model>,
}

// SAFETY: the library wants one thread at a time, and callbacks are Send.
unsafe impl Send for Translator<'_> {}

struct Callbacks<'m> {
    progress: Option<Mutex<Progress<'m>>>,
    partial: Option<Mutex<Partial<'m>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Callbacks<'_> {
    /// Calls a closure; its panic must not unwind through C, and goes on in `Translator::run`.
    fn call<F: ?Sized>(&self, closure: &Option<Mutex<Box<F>>>, call: impl FnOnce(&mut F) -> ControlFlow<()>) -> c_int {
        let closure = match closure {
            Some(closure) => closure,
            None => return 0,
        };
        match catch_unwind(AssertUnwindSafe(|| call(&mut lock(closure)))) {
            Ok(ControlFlow::Continue(())) => 0,
            Ok(ControlFlow::Break(())) => 1,
            Err(panic) => {
                *lock(&self.panic) = Some(panic);
                1
            }
        }
    }
}

unsafe extern "C" fn progress(user: *mut c_void, done: usize, total: usize) -> c_int {
    let callbacks = &*user.cast::<Callbacks>();
    callbacks.call(&callbacks.progress, |progress| progress(done, total))
}

unsafe extern "C" fn partial(user: *mut c_void, line: usize, text: sys::ferry_text) -> c_int {
    let callbacks = &*user.cast::<Callbacks>();
    callbacks.call(&callbacks.partial, |partial| partial(line, &str_of(text)))
}

/// (After a panic, too.)
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type PairFunction = fn(
    *mut sys::ferry_translator,
    *const sys::ferry_text,
    *const sys::ferry_text,
    usize,
    *mut *mut sys::ferry_result,
    *mut sys::ferry_error,
) -> Status;

pub(crate) fn c_texts(texts: &[impl AsRef<str>]) -> Vec<sys::ferry_text> {
    texts.iter().map(|text| c_text(text.as_ref())).collect()
}

pub(crate) fn c_text(text: &str) -> sys::ferry_text {
    sys::ferry_text { data: text.as_ptr().cast(), size: text.len() }
}

impl<'m> Translator<'m> {
    pub fn new(model: &'m Model, mut options: Options<'m>) -> Result<Translator<'m>, Error> {
        let callbacks = Callbacks {
            progress: options.progress.take().map(Mutex::new),
            partial: options.partial.take().map(Mutex::new),
            panic: Mutex::new(None),
        };
        let callbacks = NonNull::from(Box::leak(Box::new(callbacks)));
        let created = options.with(|mut options| {
            options.user = callbacks.as_ptr().cast();
            let closures = unsafe { callbacks.as_ref() };
            options.progress = closures.progress.is_some().then_some(progress);
            options.partial = closures.partial.is_some().then_some(partial);
            make(|translator, error| unsafe {
                sys::ferry_translator_create(model.0.as_ptr(), &options, translator, error)
            })
        });
        match created {
            Ok(raw) => {
                let alive = Arc::new(Mutex::new(Some(Alive(raw))));
                Ok(Translator { raw, callbacks, alive, model: PhantomData })
            }
            Err(error) => {
                drop(unsafe { Box::from_raw(callbacks.as_ptr()) });
                Err(error)
            }
        }
    }

    /// Begins a job: the calls that follow, one or several, until the next `canceller`. What this one returns ends them,
    /// and no others.
    ///
    /// ```no_run
    /// # let model = ferry::Model::open("model.gguf").unwrap();
    /// # let mut translator = ferry::Translator::new(&model, model.options()).unwrap();
    /// let canceller = translator.canceller();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(std::time::Duration::from_secs(1));
    ///     canceller.cancel();
    /// });
    /// let one = translator.translate_text("Good morning!"); // of this job: cancelled after a second
    /// translator.canceller();
    /// let other = translator.translate_text("Good morning!"); // of another one: not cancelled
    /// ```
    pub fn canceller(&mut self) -> Canceller {
        let job = unsafe { sys::ferry_translator_job(self.raw.as_ptr()) };
        Canceller { alive: self.alive.clone(), job }
    }

    /// Translates lines, each as one sentence. If the call is cancelled, the lines that were not finished have the
    /// error CANCELLED. A panic of a callback ends the call, and goes on here.
    pub fn translate(&mut self, lines: &[impl AsRef<str>]) -> Result<Translations, Error> {
        let lines = c_texts(lines);
        self.run(|translator, result, error| unsafe {
            sys::ferry_translate(translator, lines.as_ptr(), lines.len(), result, error)
        })
        .map(Translations)
    }

    /// The same, with translations that begin with `prefixes`, one for each line.
    pub fn translate_prefixed(
        &mut self,
        lines: &[impl AsRef<str>],
        prefixes: &[impl AsRef<str>],
    ) -> Result<Translations, Error> {
        self.run_pairs(
            |translator, lines, prefixes, count, result, error| unsafe {
                let request = sys::ferry_request {
                    size: std::mem::size_of::<sys::ferry_request>(),
                    prefixes,
                    terms: std::ptr::null(),
                    term_size: 0,
                    term_count: 0,
                    on_number: sys::ferry_on_number::FERRY_ON_NUMBER_WARN,
                    progress: None,
                    user: std::ptr::null_mut(),
                };
                sys::ferry_translate_with(translator, lines, count, &request, result, error)
            },
            lines,
            prefixes,
        )
    }

    /// Computes the scores of given translations, one for each line.
    pub fn score(
        &mut self,
        lines: &[impl AsRef<str>],
        translations: &[impl AsRef<str>],
    ) -> Result<Translations, Error> {
        self.run_pairs(
            |t, a, b, n, result, error| unsafe { sys::ferry_score(t, a, b, n, result, error) },
            lines,
            translations,
        )
    }

    /// Translates a text of any length, sentence by sentence; the white space between them stays.
    pub fn translate_text(&mut self, text: &str) -> Result<Translation, Error> {
        self.run(|translator, result, error| unsafe {
            sys::ferry_translate_text(translator, c_text(text), result, error)
        })
        .map(Translation)
    }

    fn run_pairs(
        &mut self,
        function: PairFunction,
        lines: &[impl AsRef<str>],
        others: &[impl AsRef<str>],
    ) -> Result<Translations, Error> {
        if lines.len() != others.len() {
            let message = format!("{} lines, and texts for {}", lines.len(), others.len());
            return Err(Error { status: Status::FERRY_ERROR_ARGUMENT, message, argument: None });
        }
        let (lines, others) = (c_texts(lines), c_texts(others));
        self.run(|translator, result, error| {
            function(translator, lines.as_ptr(), others.as_ptr(), lines.len(), result, error)
        })
        .map(Translations)
    }

    fn run(
        &mut self,
        call: impl FnOnce(*mut sys::ferry_translator, *mut *mut sys::ferry_result, *mut sys::ferry_error) -> Status,
    ) -> Result<Owned, Error> {
        let result = make(|result, error| call(self.raw.as_ptr(), result, error)).map(Owned);
        if let Some(panic) = lock(&unsafe { self.callbacks.as_ref() }.panic).take() {
            drop(result);
            resume_unwind(panic);
        }
        result
    }
}

impl Drop for Translator<'_> {
    fn drop(&mut self) {
        *lock(&self.alive) = None;
        unsafe {
            sys::ferry_translator_destroy(self.raw.as_ptr());
            drop(Box::from_raw(self.callbacks.as_ptr()));
        }
    }
}

/// Ends the calls of one job of a [`Translator`] ([`Translator::canceller`]), from any thread; may outlive both.
#[derive(Clone)]
pub struct Canceller {
    alive: Arc<Mutex<Option<Alive>>>,
    job: u32,
}

struct Alive(NonNull<sys::ferry_translator>);

// SAFETY: used for ferry_translator_cancel alone, which any thread may call until Translator::drop.
unsafe impl Send for Alive {}

impl Canceller {
    /// The call in progress, if it is one of this job, ends within milliseconds, and every later one of this job at once.
    /// Does nothing if the translator has a newer job, or is gone.
    pub fn cancel(&self) {
        if let Some(translator) = &*lock(&self.alive) {
            unsafe { sys::ferry_translator_cancel(translator.0.as_ptr(), self.job) }
        }
    }
}
