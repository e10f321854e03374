# gph plan of tables, good and bad.
cat >good.csv <<'EOF'
id, lower, upper, size, alignment, offset
weights, 0, 9, 4096, 256, 0
first, 0, 3, 100, 1,
second, 2, 5, 300, 256,

third, 3, 6, 100, 1,
EOF
"$GPH" plan good.csv --out placed.csv | grep -v '^time'
echo "exit $?"
cat placed.csv
"$GPH" plan - --out - <good.csv
# Cases of a choice share memory; the loop keeps what its next round reads.
cat >bodies.csv <<'BODIES'
id,lower,upper,size,bodies
x,0,9,4096,
case0,1,9,1048576,kind:0
case1,2,9,1048576,kind:1
case2,3,9,1048576,kind:2
case3,4,9,1048576,kind:3
case4,5,9,1048576,kind:4
case5,6,9,1048576,kind:5
case6,7,9,1048576,kind:6
case7,8,9,1048576,kind:7
state,9,12,4096,
temporary,13,14,4096,rounds@11-20
BODIES
"$GPH" plan bodies.csv --out - | tail -4
"$GPH" plan bodies.csv | grep -v '^time'
cut -d, -f1-4 bodies.csv | "$GPH" plan - | grep height
sed 's/kind:7/kind/' bodies.csv | "$GPH" plan -
echo "exit $?"
"$GPH" plan good.csv --capacity 4500 >out
echo "exit $?"
"$GPH" plan good.csv --capacity 1 >out
echo "exit $?"
"$GPH" plan good.csv --capacity many
echo "exit $?"
sed 's/300/3o0/' good.csv | "$GPH" plan -
echo "exit $?"
sed 's/^third.*/third, 3/' good.csv | "$GPH" plan -
echo "exit $?"
sed 's/lower/begin/' good.csv | "$GPH" plan -
echo "exit $?"
sed 's/second, 2, 5/second, 5, 2/' good.csv | "$GPH" plan -
echo "exit $?"
"$GPH" plan </dev/null
echo "exit $?"
"$GPH" plan missing.csv
echo "exit $?"
"$GPH" plan good.csv --out no/such/folder.csv >out
echo "exit $?"
ls
"$GPH" plan good.csv --out . >out
echo "exit $?"
umask 027
"$GPH" plan good.csv --out fresh.csv >out && ls -l fresh.csv | cut -c1-10
mkfifo pipe
cat pipe >through.csv &
"$GPH" plan good.csv --out pipe >out
wait
cmp placed.csv through.csv && echo "a pipe is written through"
[ -p pipe ] && echo "and stays one"
# A ladder for a histogram.
cat >sizes.csv <<'S'
size, count, cost, bytes, seconds
1, 4000, 10, 1000000, 0.1
2, 900
3, 800
5, 300
8, 300
9, 250
17, 40
33, 25
64, 12, 40, 1200000, 0.3
S
sed -i 's/^\([0-9]*, [0-9]*\)$/\1,,,/' sizes.csv
"$GPH" plan --ladder sizes.csv
echo "exit $?"
"$GPH" plan --ladder --buckets 4 --multiple 4 sizes.csv
echo "exit $?"
"$GPH" plan --ladder --capacity 3400000 - <sizes.csv
echo "exit $?"
"$GPH" plan --ladder --capacity 1000 sizes.csv
echo "exit $?"
"$GPH" plan --ladder --out x sizes.csv
echo "exit $?"
"$GPH" plan --buckets 3 good.csv
echo "exit $?"
"$GPH" plan --ladder good.csv
echo "exit $?"
printf 'size,count,cost,bytes\n1,1,1,1\n2,1,2,1e30\n' >large.csv
"$GPH" plan --ladder large.csv
echo "exit $?"
printf 'size,count,cost\n1,1,0\n2,1,1e308\n1000,1,\n' >infinite.csv
"$GPH" plan --ladder infinite.csv
echo "exit $?"
