//! Translates text with a Transformer model, offline, by libferry.
//!
//! ```no_run
//! # fn main() -> Result<(), ferry::Error> {
//! let model = ferry::Model::open("model.gguf")?;
//! let mut options = model.options();
//! options.beam = 4;
//! let mut translator = ferry::Translator::new(&model, options)?;
//! for line in &translator.translate(&["Good morning!", "How are you?"])? {
//!     println!("{}", line?.text());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Threads may share a [`Model`]; a [`Translator`] belongs to one at a time, and a [`Canceller`] to any. What a
//! function does exactly, and when it fails, is explained in `ferry.h`; [`sys`] has its declarations.

mod glossary;
mod model;
mod options;
mod result;
#[allow(non_camel_case_types)]
pub mod sys;
mod translator;

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_char;
use std::ptr::{self, NonNull};
use std::slice;

pub use glossary::Glossary;
pub use model::{Language, Model};
pub use options::Options;
pub use result::{Hypothesis, Line, Lines, Sentence, Token, Translation, Translations};
pub use sys::{
    ferry_language_role as Roles, ferry_on_loop as OnLoop, ferry_on_number as OnNumber, ferry_open_flag as OpenFlags, ferry_quality as Quality,
    ferry_split as Split, ferry_status as Status,
};
pub use translator::{Canceller, Translator};

/// Why a call or a line failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub status: Status,
    pub message: String,
    /// The argument or option that the library refused, by its name in `ferry.h`.
    pub argument: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<sys::ferry_error> for Error {
    fn from(error: sys::ferry_error) -> Error {
        let (message, argument) = unsafe { (words(error.message.as_ptr()), words(error.argument)) };
        Error {
            status: error.status,
            message: message.unwrap_or_default().into_owned(),
            argument: argument.map(Cow::into_owned),
        }
    }
}

/// Text of the library; `None` for NULL.
///
/// # Safety
/// `text` ends with NUL and lives as long as `'a`.
unsafe fn words<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy())
}

/// # Safety
/// `text` lives as long as `'a`.
unsafe fn str_of<'a>(text: sys::ferry_text) -> Cow<'a, str> {
    match text.size {
        0 => Cow::Borrowed(""),
        size => String::from_utf8_lossy(slice::from_raw_parts(text.data.cast(), size)),
    }
}

fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, Error> {
    CString::new(text).map_err(|error| Error {
        status: Status::FERRY_ERROR_ARGUMENT,
        message: error.to_string(),
        argument: None,
    })
}

/// Calls a function that makes an object or fills in an error. (A call that was cancelled makes a result.)
fn make<T>(call: impl FnOnce(*mut *mut T, *mut sys::ferry_error) -> Status) -> Result<NonNull<T>, Error> {
    let mut made = ptr::null_mut();
    // SAFETY: all bits zero is FERRY_OK with an empty message, which stays terminated.
    let mut error: sys::ferry_error = unsafe { std::mem::zeroed() };
    call(&mut made, &mut error);
    NonNull::new(made).ok_or_else(|| error.into())
}
