"""Translates a column of a table, in Spark's own workers, through the package of bindings/python:

    spark-submit spark_table.py INPUT OUTPUT COLUMN MODEL

INPUT and OUTPUT are Parquet. OUTPUT has the columns of INPUT, `translation`, and `problem`: an error or warning, or null.
The package and MODEL have to be on every machine, MODEL at the same place.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
import pyarrow


def translate(batches, column, path):
    """Of the batches of a partition, in order. Opening the model takes milliseconds: its file is mapped into memory, once
    for all workers of a machine."""
    import ferry
    with ferry.Model(path) as model, ferry.Translator(model, threads=1, beam=1) as translator:
        for batch in batches:
            results = list(translator.translate((text or "" for text in batch.column(column).to_pylist()), errors="keep"))
            added = [[each.text for each in results], [each.error or each.warning for each in results]]
            yield pyarrow.RecordBatch.from_arrays(
                batch.columns + [pyarrow.array(values, pyarrow.string()) for values in added],
                names=batch.schema.names + ["translation", "problem"])


if __name__ == "__main__":
    source, output, column, path = sys.argv[1:]
    table = SparkSession.builder.appName("ferry").getOrCreate().read.parquet(source)
    schema = StructType(list(table.schema)).add("translation", "string").add("problem", "string")
    table.mapInArrow(lambda batches: translate(batches, column, path), schema).write.parquet(output)
