use std::ffi::CString;
use std::ops::ControlFlow;
use std::{mem, ptr};

use crate::{c_string, sys, Error, Glossary, OnLoop, OnNumber, Split};

/// Called with how many lines (of a text: sentences) are finished, of how many; `Break` cancels the call.
pub type Progress<'a> = Box<dyn FnMut(usize, usize) -> ControlFlow<()> + Send + 'a>;
/// Called in greedy search with the index of a line (of a text: sentence) and its translation so far, from any of the
/// translator's threads; `Break` cancels the call.
pub type Partial<'a> = Box<dyn FnMut(usize, &str) -> ControlFlow<()> + Send + 'a>;

fn defaults(model: *const sys::ferry_model) -> sys::ferry_options {
    // SAFETY: all bits zero is a ferry_options: NULL, 0, no function.
    let mut options: sys::ferry_options = unsafe { mem::zeroed() };
    unsafe { sys::ferry_options_default(model, &mut options, mem::size_of::<sys::ferry_options>()) };
    options
}

// The fields that C and Rust have in common. A field of ferry_options that is missing here does not compile: the pattern
// in `of` has to name all.
macro_rules! options {
    ($($name:ident: $type:ty,)*) => {
        /// How to translate: the fields of `ferry_options`, which `ferry.h` explains; the model's own `search`.
        #[non_exhaustive]
        pub struct Options<'a> {
            /// The source language, a tag or another name; `None`: the model's default.
            pub from: Option<String>,
            pub to: Option<String>,
            pub progress: Option<Progress<'a>>,
            pub partial: Option<Partial<'a>>,
            pub glossary: Option<&'a Glossary>,
            $(pub $name: $type,)*
        }

        impl<'a> Options<'a> {
            pub(crate) fn of(model: *const sys::ferry_model) -> Options<'a> {
                let sys::ferry_options {
                    size: _, from: _, to: _, progress: _, partial: _, user: _, search: _, glossary: _, $($name,)*
                } = defaults(model);
                Options { from: None, to: None, progress: None, partial: None, glossary: None, $($name,)* }
            }

            /// Calls `create` with these options in C's form, without callbacks.
            pub(crate) fn with<T>(
                &self,
                create: impl FnOnce(sys::ferry_options) -> Result<T, Error>,
            ) -> Result<T, Error> {
                let from = self.from.as_deref().map(c_string).transpose()?;
                let to = self.to.as_deref().map(c_string).transpose()?;
                let pointer = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
                create(sys::ferry_options {
                    size: mem::size_of::<sys::ferry_options>(),
                    from: pointer(&from),
                    to: pointer(&to),
                    progress: None,
                    partial: None,
                    user: ptr::null_mut(),
                    search: ptr::null(),
                    glossary: self.glossary.map_or(ptr::null(), |glossary| glossary.0.as_ptr() as *const _),
                    $($name: self.$name,)*
                })
            }
        }
    };
}

options! {
    beam: i32,
    nbest: i32,
    length_penalty: f32,
    max_source: i32,
    max_length: i32,
    length_factor: f32,
    length_extra: i32,
    min_length: i32,
    repetition_penalty: f32,
    no_repeat_ngram: i32,
    shortlist: i32,
    scores: i32,
    threads: i32,
    batch: i32,
    memory_limit: usize,
    alignment: i32,
    replace_unknowns: i32,
    alternatives: i32,
    sample: i32,
    temperature: f32,
    top_k: i32,
    top_p: f32,
    seed: u64,
    split: Split,
    on_loop: OnLoop,
    on_number: OnNumber,
}
