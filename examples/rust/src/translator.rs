use std::any::Any;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::options::Progress;
use crate::result::Owned;
use crate::{c_text, make, sys, Error, Model, Options, Status, Translation, Translations};

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
    canceller: Canceller,
    model: PhantomData<&'m Model>,
}

// SAFETY: the library wants one thread at a time, and callbacks are Send.
unsafe impl Send for Translator<'_> {}

struct Callbacks<'m> {
    progress: Option<Progress<'m>>,
    panic: Option<Box<dyn Any + Send>>,
}

impl Callbacks<'_> {
    /// Calls a closure; its panic must not unwind through C, and goes on in `Translator::run`.
    fn call(&mut self, callback: impl FnOnce(&mut Self) -> Option<ControlFlow<()>>) -> c_int {
        match catch_unwind(AssertUnwindSafe(|| callback(self))) {
            Ok(Some(ControlFlow::Break(()))) => 1,
            Ok(_) => 0,
            Err(panic) => {
                self.panic = Some(panic);
                1
            }
        }
    }
}

unsafe extern "C" fn progress(user: *mut c_void, done: usize, total: usize) -> c_int {
    (*user.cast::<Callbacks>()).call(|callbacks| Some(callbacks.progress.as_mut()?(done, total)))
}

impl<'m> Translator<'m> {
    pub fn new(model: &'m Model, mut options: Options<'m>) -> Result<Translator<'m>, Error> {
        let callbacks = Box::new(Callbacks { progress: options.progress.take(), panic: None });
        let callbacks = NonNull::from(Box::leak(callbacks));
        let created = options.with(|mut options| {
            options.user = callbacks.as_ptr().cast();
            options.progress = unsafe { callbacks.as_ref() }.progress.is_some().then_some(progress);
            make(|translator, error| unsafe {
                sys::ferry_translator_create(model.0.as_ptr(), &options, translator, error)
            })
        });
        match created {
            Ok(raw) => {
                let canceller = Canceller(Arc::new(Mutex::new(Some(Alive(raw)))));
                Ok(Translator { raw, callbacks, canceller, model: PhantomData })
            }
            Err(error) => {
                drop(unsafe { Box::from_raw(callbacks.as_ptr()) });
                Err(error)
            }
        }
    }

    /// Ends calls of this translator, from any thread.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Translates lines, each as one sentence. If the call is cancelled, the lines that were not finished have the
    /// error CANCELLED. A panic of a callback ends the call, and goes on here.
    pub fn translate(&mut self, lines: &[impl AsRef<str>]) -> Result<Translations, Error> {
        let texts: Vec<_> = lines.iter().map(|line| c_text(line.as_ref())).collect();
        self.run(|translator, result, error| unsafe {
            sys::ferry_translate(translator, texts.as_ptr(), texts.len(), result, error)
        })
        .map(Translations)
    }

    /// Translates a text of any length, sentence by sentence; the white space between them stays.
    pub fn translate_text(&mut self, text: &str) -> Result<Translation, Error> {
        self.run(|translator, result, error| unsafe {
            sys::ferry_translate_text(translator, c_text(text), result, error)
        })
        .map(Translation)
    }

    fn run(
        &mut self,
        call: impl FnOnce(*mut sys::ferry_translator, *mut *mut sys::ferry_result, *mut sys::ferry_error) -> Status,
    ) -> Result<Owned, Error> {
        let result = make(|result, error| call(self.raw.as_ptr(), result, error)).map(Owned);
        if let Some(panic) = unsafe { self.callbacks.as_mut() }.panic.take() {
            drop(result);
            resume_unwind(panic);
        }
        result
    }
}

impl Drop for Translator<'_> {
    fn drop(&mut self) {
        *self.canceller.lock() = None;
        unsafe {
            sys::ferry_translator_destroy(self.raw.as_ptr());
            drop(Box::from_raw(self.callbacks.as_ptr()));
        }
    }
}

/// Ends the call that a [`Translator`] is in, within milliseconds; may outlive it.
#[derive(Clone)]
pub struct Canceller(Arc<Mutex<Option<Alive>>>);

struct Alive(NonNull<sys::ferry_translator>);

// SAFETY: used for ferry_translator_cancel alone, which any thread may call until Translator::drop.
unsafe impl Send for Alive {}

impl Canceller {
    pub fn cancel(&self) {
        if let Some(translator) = &*self.lock() {
            unsafe { sys::ferry_translator_cancel(translator.0.as_ptr()) }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Alive>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
