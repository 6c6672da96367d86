use std::borrow::Cow;
use std::os::raw::c_int;
use std::path::Path;
use std::ptr::NonNull;

use crate::{c_string, make, sys, words, Error, OpenFlags, Options, Roles, Status};

/// A model, which any number of threads may use at the same time.
pub struct Model(pub(crate) NonNull<sys::ferry_model>);

// SAFETY: a ferry_model is immutable.
unsafe impl Send for Model {}
unsafe impl Sync for Model {}

/// A language of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language<'m> {
    /// The model's own tag.
    pub tag: Cow<'m, str>,
    /// Other names, separated by blanks.
    pub names: Cow<'m, str>,
    /// Its English name; empty if none is known.
    pub english: Cow<'m, str>,
    pub roles: Roles,
}

impl Model {
    /// Maps a model file, which must not change as long as the model is open.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::open_with(path, OpenFlags(0))
    }

    pub fn open_with(path: impl AsRef<Path>, flags: OpenFlags) -> Result<Model, Error> {
        #[cfg(unix)]
        let path = c_string(std::os::unix::ffi::OsStrExt::as_bytes(path.as_ref().as_os_str()))?;
        #[cfg(not(unix))]
        let path = c_string(path.as_ref().to_string_lossy().into_owned())?;
        make(|model, error| unsafe { sys::ferry_model_open(path.as_ptr(), flags.0 as c_int, model, error) }).map(Model)
    }

    /// Opens a model file in memory, which is copied.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, Error> {
        let flags = OpenFlags::FERRY_OPEN_COPY.0 as c_int;
        make(|model, error| unsafe {
            sys::ferry_model_open_memory(bytes.as_ptr().cast(), bytes.len(), flags, model, error)
        })
        .map(Model)
    }

    /// Compares the whole file with the hash that it carries.
    pub fn verify(&self) -> Result<(), Error> {
        let mut error: sys::ferry_error = unsafe { std::mem::zeroed() };
        match unsafe { sys::ferry_model_verify(self.0.as_ptr(), &mut error) } {
            Status::FERRY_OK => Ok(()),
            _ => Err(error.into()),
        }
    }

    /// What the file says about itself: pairs of key ("name", "license", "origin" …) and value.
    pub fn info(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        (0..).map_while(move |index| unsafe {
            let key = sys::ferry_model_info_key(index);
            let value = words(sys::ferry_model_info(self.0.as_ptr(), key))?;
            Some((words(key)?, value))
        })
    }

    /// What [`Options::from`] and [`Options::to`] can name; nothing if the model does not say.
    pub fn languages(&self) -> impl Iterator<Item = Language<'_>> {
        let model = self.0.as_ptr();
        (0..).map_while(move |index| unsafe {
            let language = sys::ferry_model_language(model, index).as_ref()?;
            Some(Language {
                tag: words(language.tag)?,
                names: words(language.names)?,
                english: words(language.english)?,
                roles: Roles(language.roles as _),
            })
        })
    }

    /// The choices of the model's authors.
    pub fn options<'a>(&self) -> Options<'a> {
        Options::of(self.0.as_ptr())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { sys::ferry_model_close(self.0.as_ptr()) }
    }
}
