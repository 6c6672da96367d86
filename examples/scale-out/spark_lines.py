"""Translates the lines of a text file with the program, on all machines of a Spark cluster:

    spark-submit spark_lines.py INPUT OUTPUT ferry translate --quiet --threads 1 -m MODEL

OUTPUT becomes a directory with a file for each partition; `cat OUTPUT/part-*` has the translations in the order of the
lines. The program, and MODEL, have to be on every machine, at the same place.
"""
import shlex
import sys

from pyspark import SparkContext

source, output, *command = sys.argv[1:]
# Lines end with LF alone, as for the program (Hadoop's default also ends them at CR). A partition is what is translated
# again after a failure.
settings = {"textinputformat.record.delimiter": "\n", "mapreduce.input.fileinputformat.split.maxsize": "1000000"}
lines = SparkContext(appName="ferry").newAPIHadoopFile(
    source, "org.apache.hadoop.mapreduce.lib.input.TextInputFormat", "org.apache.hadoop.io.LongWritable",
    "org.apache.hadoop.io.Text", conf=settings).values()
# checkCode: a partition fails if the program does.
lines.pipe(shlex.join(command), checkCode=True).saveAsTextFile(output)
