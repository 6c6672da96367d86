//! translate MODEL TEXT [FROM TO]: a text through libferry; FROM and TO name languages of a model that has several.
use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.len() != 2 && arguments.len() != 4 {
        return Err("usage: translate MODEL TEXT [FROM TO]".into());
    }
    let model = ferry::Model::open(&arguments[0])?;
    let mut options = model.options();
    options.from = arguments.get(2).cloned();
    options.to = arguments.get(3).cloned();
    let mut translator = ferry::Translator::new(&model, options)?;
    let translation = translator.translate_text(&arguments[1])?;
    println!("{}", translation.text());
    translation.error().map_or(Ok(()), |error| Err(error.into())) // of the first sentence that stayed as it was
}
