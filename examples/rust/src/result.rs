use std::borrow::Cow;
use std::ops::Range;
use std::ptr::NonNull;
use std::{mem, slice};

use crate::{sys, words, Error, Status};

/// A result of the library, destroyed when dropped.
pub(crate) struct Owned(pub NonNull<sys::ferry_result>);

// SAFETY: a result is not changed by the functions that read it.
unsafe impl Send for Owned {}
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { sys::ferry_result_destroy(self.0.as_ptr()) }
    }
}

impl Owned {
    fn line(&self, index: usize) -> Result<Line<'_>, Error> {
        let raw = self.0.as_ptr();
        match unsafe { sys::ferry_result_status(raw, index) } {
            Status::FERRY_OK => Ok(Line { result: self, index }),
            status => Err(failure(status, unsafe { words(sys::ferry_result_error(raw, index)) })),
        }
    }

    fn text(&self, line: usize, hypothesis: usize) -> Cow<'_, str> {
        // SAFETY: the text belongs to the result.
        let text = unsafe { sys::ferry_result_text(self.0.as_ptr(), line, hypothesis) };
        match text.size {
            0 => Cow::Borrowed(""),
            size => String::from_utf8_lossy(unsafe { slice::from_raw_parts(text.data.cast(), size) }),
        }
    }
}

fn failure(status: Status, message: Option<Cow<str>>) -> Error {
    Error { status, message: message.unwrap_or_default().into_owned() }
}

/// The translations of lines.
pub struct Translations(pub(crate) Owned);

impl Translations {
    pub fn len(&self) -> usize {
        unsafe { sys::ferry_result_count(self.0 .0.as_ptr()) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each line, or why it failed.
    pub fn iter(&self) -> Lines<'_> {
        Lines { result: &self.0, left: 0..self.len() }
    }
}

impl<'r> IntoIterator for &'r Translations {
    type Item = Result<Line<'r>, Error>;
    type IntoIter = Lines<'r>;

    fn into_iter(self) -> Lines<'r> {
        self.iter()
    }
}

/// Iterates over [`Translations`].
pub struct Lines<'r> {
    result: &'r Owned,
    left: Range<usize>,
}

impl<'r> Iterator for Lines<'r> {
    type Item = Result<Line<'r>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left.next().map(|index| self.result.line(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Lines<'_> {}

/// A translated line.
#[derive(Clone, Copy)]
pub struct Line<'r> {
    result: &'r Owned,
    index: usize,
}

/// One of the translations that were found for a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis<'r> {
    pub text: Cow<'r, str>,
    pub score: f32,
}

impl<'r> Line<'r> {
    /// The best hypothesis' text.
    pub fn text(&self) -> Cow<'r, str> {
        self.result.text(self.index, 0)
    }

    /// Best first: as many as [`crate::Options::nbest`].
    pub fn hypotheses(&self) -> impl Iterator<Item = Hypothesis<'r>> {
        let Line { result, index } = *self;
        let raw = result.0.as_ptr();
        (0..unsafe { sys::ferry_result_hypotheses(raw, index) }).map(move |hypothesis| Hypothesis {
            text: result.text(index, hypothesis),
            score: unsafe { sys::ferry_result_score(raw, index, hypothesis) },
        })
    }

    pub fn warning(&self) -> Option<Cow<'r, str>> {
        unsafe { words(sys::ferry_result_warning(self.result.0.as_ptr(), self.index)) }
    }
}

/// The translation of a text.
pub struct Translation(pub(crate) Owned);

/// A sentence of a text, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence<'r> {
    /// Bytes of the text that was translated.
    pub source: Range<usize>,
    /// Bytes of [`Translation::text`]; there, a sentence that failed is the source.
    pub target: Range<usize>,
    pub score: f32,
    pub error: Option<Error>,
    pub warning: Option<Cow<'r, str>>,
}

impl Translation {
    pub fn text(&self) -> Cow<'_, str> {
        self.0.text(0, 0)
    }

    /// Why the first sentence that failed did so; the others are translated nevertheless.
    pub fn error(&self) -> Option<Error> {
        self.0.line(0).err()
    }

    /// In the text's order.
    pub fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let raw = self.0 .0.as_ptr();
        (0..unsafe { sys::ferry_result_sentence_count(raw) }).map(move |index| {
            // SAFETY: all bits zero is a ferry_sentence, and its texts belong to the result.
            let mut sentence: sys::ferry_sentence = unsafe { mem::zeroed() };
            unsafe { sys::ferry_result_sentence(raw, index, &mut sentence, mem::size_of::<sys::ferry_sentence>()) };
            Sentence {
                source: sentence.source_begin..sentence.source_end,
                target: sentence.target_begin..sentence.target_end,
                score: sentence.score,
                error: match sentence.status {
                    Status::FERRY_OK => None,
                    status => Some(failure(status, unsafe { words(sentence.error) })),
                },
                warning: unsafe { words(sentence.warning) },
            }
        })
    }
}
