# The picture of docs/scale.md:
#   gnuplot -e "data='FOLDER/growth.csv'; picture='docs/images/scale.png'" tests/history/growth.gnuplot
set terminal pngcairo size 900,420 font "DejaVu Sans,10"
set output picture
set datafile separator ','
set multiplot layout 1,2
set logscale x
set format x '10^{%L}'
set xlabel 'measurements in the history'
set grid back lc rgb '#dddddd'
set key top left
set logscale y
set yrange [0.003:*]
set ylabel 'seconds, whole command'
plot data using 1:4 skip 1 with linespoints lw 2 pt 7 lc rgb '#0072b2' title 'compare, two runs', \
     data using 1:5 skip 1 with linespoints lw 2 pt 5 lc rgb '#d55e00' title 'trend, one series', \
     data using 1:6 skip 1 with linespoints lw 2 pt 13 lc rgb '#cc79a7' title 'trend, all 200', \
     data using 1:7 skip 1 with linespoints lw 2 pt 9 lc rgb '#009e73' title 'list, newest 20'
unset logscale y
set yrange [0:*]
set ylabel 'bytes a measurement of 100 samples'
set y2label 'measurements written a second'
set y2range [0:*]
set y2tics
set ytics nomirror
set key bottom right
plot data using 1:3 skip 1 with linespoints lw 2 pt 7 lc rgb '#0072b2' title 'bytes each', \
     data using 1:2 skip 1 axes x1y2 with linespoints lw 2 pt 5 lc rgb '#d55e00' \
       title 'written a second'
unset multiplot
