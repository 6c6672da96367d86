#!/bin/bash
# examples/scale-out: 100,000 lines by each of its ways, and the time that each takes. A block or partition of each
# fails the first time; the output has to be that of one process: scale_out.sh BUILD VENV
# VENV is a virtual environment of Python that has pyspark, pandas and pyarrow; it gets the package of bindings/python.
set -Eeuo pipefail
trap 'echo "scale_out: failed at line $LINENO" >&2' ERR
build=$(realpath "$1") venv=$(realpath "$2")
source_dir=$(realpath "$(dirname "$0")/../..")
examples=$source_dir/examples
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-scale-out.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$venv/bin/pip" install --quiet --disable-pip-version-check "$source_dir/bindings/python"
cd "$scratch"
cores=2
count=100000

fail()
{
    echo "scale_out: $*" >&2
    exit 1
}

# A file that no other process has in memory.
cp "$source_dir/models/encodings/sinusoidal.gguf" model.gguf
model=$PWD/model.gguf
ferry=$build/ferry
options=(translate --quiet --threads 1 --beam 1 -m "$model")
"$venv/bin/python" - > lines << 'END'
subjects = "I,You,We,They,Tom,Mary,Ann,John,Peter,Paul,My father,My mother,The boy,The girl,The doctor,The teacher,A man," \
           "A woman,The children,Everybody"
verbs = "saw,found,bought,sold,wanted,needed,lost,liked,made,took"
things = "a dog,a cat,the book,a car,the house,an apple,some bread,the key,a chair,the table,some milk,a letter,the picture," \
         "a horse,the train,some tea,a map,the hat,a boat,the bag,a bird,some fish,the boat,a phone,the watch"
ends = "today,yesterday,here,there,again,first,alone,twice,now,too,soon,then,at last,at home,in Paris,in spring,this week," \
       "on Monday,last year,at night"
for subject in subjects.split(","):
    for verb in verbs.split(","):
        for thing in things.split(","):
            for end in ends.split(","):
                print(subject, verb, thing, end + ".")
END
[ "$(sort -u lines | wc -l)" -eq "$count" ] || fail "the lines are not $count different ones"

# The program, but the first process is killed in the middle of its work, late enough for others to finish theirs.
flaky()
{
    printf '#!/bin/sh\nif mkdir %q 2> %q; then\n    head -n 500 | %q "$@"\n    sleep 2\n    kill -9 $$\nfi\nexec %q "$@"\n' \
        "$PWD/$1.failed" /dev/null "$ferry" "$ferry" > "$1"
    chmod +x "$1"
}

# timed NAME OUTPUT COMMAND…: OUTPUT is a file, or a directory of parts, to compare with the output of one process.
timed()
{
    local name=$1 output=$2 begin=$EPOCHREALTIME
    shift 2
    "$@" 2> log || { cat log >&2; fail "$name failed"; }
    awk -v name="$name" -v count=$count -v begin="$begin" -v end="$EPOCHREALTIME" \
        'BEGIN { printf "%-44s %6.1f s %8.0f lines/s\n", name, end - begin, count / (end - begin) }'
    [ -e one ] || return 0
    if [ -d "$output" ]; then cat "$output"/part-*; else cat "$output"; fi | cmp - one || fail "$name: other translations"
}

one_process()
{
    "$ferry" "${options[@]}" --threads "$cores" -i lines -o one
}

split_and_cat()
{
    local part
    split -n "l/$cores" lines part.
    for part in part.??; do "$ferry" "${options[@]}" -i "$part" -o "$part.out" & done
    wait
    cat part.??.out > joined
}

gnu_parallel()
{
    flaky program
    PARALLEL="--jobs $cores --block 256k" "$examples/scale-out/parallel_lines.sh" "$PWD/program" "${options[@]}" < lines > blocks
    [ -d program.failed ] || fail "no block failed"
}

export SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$venv/bin/python
# Locally, Spark repeats nothing unless the master says so.
spark=("$venv/bin/spark-submit" --master "local[$cores,4]" --conf spark.ui.enabled=false --driver-memory 1g)

spark_lines()
{
    flaky piped
    "${spark[@]}" "$examples/scale-out/spark_lines.py" lines pieces "$PWD/piped" "${options[@]}"
    [ -d piped.failed ] || fail "no partition failed"
}

spark_table()
{
    "$venv/bin/python" "$source_dir/tests/embedding/spark_workers.py" "$model" "${spark[@]}" \
        --conf spark.sql.files.maxPartitionBytes=100000 \
        "$examples/scale-out/spark_table.py" lines.parquet table text "$model"
}

"$venv/bin/python" -c '
import pyarrow, pyarrow.parquet
lines = open("lines").read().splitlines()
pyarrow.parquet.write_table(pyarrow.table({"line": range(len(lines)), "text": lines}), "lines.parquet", row_group_size=10000)'

timed "one process, $cores threads" one one_process
timed "split, $cores processes, cat" joined split_and_cat
timed "GNU parallel, a block failed" blocks gnu_parallel
timed "Spark, the program, a partition failed" pieces spark_lines
grep -q 'Lost task' log || fail "Spark repeated no partition"
timed "Spark, its own workers, one was killed" one spark_table
grep -q 'Lost task' log || fail "Spark repeated no partition of the table"
"$venv/bin/python" -c '
import pyarrow.parquet
table = pyarrow.parquet.read_table("table").to_pydict()
assert table["line"] == list(range(len(table["line"]))), "the order of the rows has changed"
print(*table["translation"], sep="\n")' | cmp - one || fail "Spark, its own workers: other translations"
