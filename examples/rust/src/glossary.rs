use std::mem;
use std::ptr::NonNull;

use crate::translator::{c_text, c_texts};
use crate::{make, sys, Error};

/// Words that have a translation of their own: [`Options::glossary`](crate::Options::glossary).
pub struct Glossary(pub(crate) NonNull<sys::ferry_glossary>);

// SAFETY: a ferry_glossary is immutable.
unsafe impl Send for Glossary {}
unsafe impl Sync for Glossary {}

impl Glossary {
    /// Each source with what it becomes, the preferred form first; without any, it stays as it is.
    ///
    /// ```
    /// let glossary = ferry::Glossary::new(&[("landlord", &["Vermieter", "Vermieters"]), ("Ferry", &[])]).unwrap();
    /// ```
    pub fn new(entries: &[(&str, &[&str])]) -> Result<Glossary, Error> {
        let targets: Vec<_> = entries.iter().map(|(_, targets)| c_texts(targets)).collect();
        let entries: Vec<_> = entries
            .iter()
            .zip(&targets)
            .map(|((source, _), targets)| sys::ferry_glossary_entry {
                source: c_text(source),
                targets: targets.as_ptr(),
                target_count: targets.len(),
            })
            .collect();
        let size = mem::size_of::<sys::ferry_glossary_entry>();
        make(|glossary, error| unsafe {
            sys::ferry_glossary_create(entries.as_ptr(), size, entries.len(), glossary, error)
        })
        .map(Glossary)
    }
}

impl Drop for Glossary {
    fn drop(&mut self) {
        unsafe { sys::ferry_glossary_destroy(self.0.as_ptr()) }
    }
}
