use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::{mem, slice};

use crate::{str_of, sys, words, Error, Quality, Status};

/// A result of the library, destroyed when dropped.
pub(crate) struct Owned(pub NonNull<sys::ferry_result>);

// SAFETY: functions that read a result do not change it.
unsafe impl Send for Owned {}
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { sys::ferry_result_destroy(self.0.as_ptr()) }
    }
}

impl Owned {
    fn line(&self, index: usize) -> Line<'_> {
        Line { result: self.0.as_ptr(), index, owner: PhantomData }
    }
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
        self.left.next().map(|index| self.result.line(index).checked())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Lines<'_> {}

/// A translated line.
#[derive(Clone, Copy)]
pub struct Line<'r> {
    result: *const sys::ferry_result,
    index: usize,
    owner: PhantomData<&'r Owned>,
}

// SAFETY: as Owned.
unsafe impl Send for Line<'_> {}
unsafe impl Sync for Line<'_> {}

impl<'r> Line<'r> {
    fn checked(self) -> Result<Line<'r>, Error> {
        match self.outcome().status {
            Status::FERRY_OK => Ok(self),
            status => {
                let message = unsafe { words(self.outcome().error) };
                Err(Error { status, message: message.unwrap_or_default().into_owned(), argument: None })
            }
        }
    }

    fn outcome(&self) -> &'r sys::ferry_outcome {
        // SAFETY: never NULL, and it belongs to the result.
        unsafe { &*sys::ferry_result_outcome(self.result, self.index) }
    }

    fn hypothesis(self, index: usize) -> Hypothesis<'r> {
        Hypothesis { line: self, index }
    }

    /// The best hypothesis' text.
    pub fn text(&self) -> Cow<'r, str> {
        self.hypothesis(0).text()
    }

    /// Best first: as many as [`crate::Options::nbest`].
    pub fn hypotheses(&self) -> impl Iterator<Item = Hypothesis<'r>> {
        let line = *self;
        (0..unsafe { sys::ferry_result_hypothesis_count(line.result, line.index) })
            .map(move |index| line.hypothesis(index))
    }

    /// The source's tokens, with [`crate::Options::alignment`].
    pub fn tokens(&self) -> Vec<Token> {
        let count = unsafe { sys::ferry_result_source_token_count(self.result, self.index) };
        tokens(count, |index, token, size| unsafe {
            sys::ferry_result_source_token(self.result, self.index, index, token, size)
        })
    }

    pub fn warning(&self) -> Option<Cow<'r, str>> {
        unsafe { words(self.outcome().warning) }
    }

    /// Signs that the translation is wrong; 0 if there are none.
    pub fn quality(&self) -> Quality {
        sys::ferry_quality(self.outcome().quality as _)
    }
}

/// One of the translations that were found for a line.
#[derive(Clone, Copy)]
pub struct Hypothesis<'r> {
    line: Line<'r>,
    index: usize,
}

impl<'r> Hypothesis<'r> {
    pub fn text(&self) -> Cow<'r, str> {
        // SAFETY: the text belongs to the result.
        unsafe { str_of(sys::ferry_result_text(self.line.result, self.line.index, self.index)) }
    }

    /// With [`crate::Options::scores`], or in beam search.
    pub fn score(&self) -> f32 {
        unsafe { sys::ferry_result_score(self.line.result, self.line.index, self.index) }
    }

    /// The tokens of the text, with [`crate::Options::alignment`].
    pub fn tokens(&self) -> Vec<Token> {
        let Hypothesis { line: Line { result, index: line, .. }, index: hypothesis } = *self;
        tokens(unsafe { sys::ferry_result_token_count(result, line, hypothesis) }, |index, token, size| unsafe {
            sys::ferry_result_token(result, line, hypothesis, index, token, size)
        })
    }

    /// How much source tokens count for token `token`: the first of them, and the weights of it and those that follow;
    /// all others are 0. With [`crate::Options::alignment`].
    pub fn weights(&self, token: usize) -> (usize, &'r [f32]) {
        let (mut first, mut count) = (0, 0);
        let weights = unsafe {
            sys::ferry_result_weights(self.line.result, self.line.index, self.index, token, &mut first, &mut count)
        };
        match count {
            0 => (0, &[]),
            _ => (first, unsafe { slice::from_raw_parts(weights, count) }),
        }
    }
}

/// A token of a source line or of a hypothesis.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub id: i32,
    pub log_probability: f32,
    /// Bytes of the text that it stands for; may be empty.
    pub range: Range<usize>,
}

fn tokens(count: usize, fill: impl Fn(usize, *mut sys::ferry_token, usize) -> Status) -> Vec<Token> {
    (0..count)
        .map_while(|index| {
            // SAFETY: all bits zero is a ferry_token.
            let mut token: sys::ferry_token = unsafe { mem::zeroed() };
            let status = fill(index, &mut token, mem::size_of::<sys::ferry_token>());
            let sys::ferry_token { id, log_probability, begin, end } = token;
            (status == Status::FERRY_OK).then_some(Token { id, log_probability, range: begin..end })
        })
        .collect()
}

/// The translation of a text.
pub struct Translation(pub(crate) Owned);

/// A sentence of a text, and what became of it.
pub struct Sentence<'r> {
    /// Bytes of the text that was translated.
    pub source: Range<usize>,
    /// Bytes of [`Translation::text`]; there, a sentence that failed is the source.
    pub target: Range<usize>,
    /// The sentence as a line; ranges of its tokens begin with the sentence.
    pub line: Result<Line<'r>, Error>,
}

impl Translation {
    pub fn text(&self) -> Cow<'_, str> {
        self.0.line(0).text()
    }

    /// Why the first sentence that failed did so; the others are translated nevertheless.
    pub fn error(&self) -> Option<Error> {
        self.0.line(0).checked().err()
    }

    /// In the text's order.
    pub fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let result = self.0 .0.as_ptr();
        let lines = unsafe { sys::ferry_result_sentences(result) };
        (0..unsafe { sys::ferry_result_sentence_count(result) }).map(move |index| {
            // SAFETY: not NULL within the count.
            let sentence = unsafe { &*sys::ferry_result_sentence(result, index) };
            Sentence {
                source: sentence.source_begin..sentence.source_end,
                target: sentence.target_begin..sentence.target_end,
                line: Line { result: lines, index, owner: PhantomData }.checked(),
            }
        })
    }
}
