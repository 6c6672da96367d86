"""translate.py MODEL TEXT [FROM TO]: a text through libferry; FROM and TO name languages of a model that has several."""
import sys

import ferry

if len(sys.argv) not in (3, 5):
    sys.exit("usage: translate.py MODEL TEXT [FROM TO]")
languages = dict(zip(("from_", "to"), sys.argv[3:]))
try:
    with ferry.Model(sys.argv[1]) as model, ferry.Translator(model, **languages) as translator:
        translation = translator.translate_text(sys.argv[2])
        print(translation.text)
        if translation.error:  # of the first sentence that stayed as it was
            sys.exit(translation.error)
except ferry.FerryError as error:
    sys.exit(str(error))
