# Draws docs/images/scale.png; docs/images/draw.sh sets: data (a line for each line of the table in
# docs/scale.md: measurements, written a second, bytes each, seconds of four commands), file.
set terminal pngcairo size 1600,640 noenhanced font 'DejaVu Sans,12' fontscale 1 linewidth 1.3333 \
    pointscale 1.3333 background rgb 'white'
set encoding utf8
set output file
set border 3 linecolor rgb '#888888'
set tics nomirror out textcolor rgb '#222222'
set grid ytics xtics linetype 1 linecolor rgb '#e6e6e6'
set logscale x
set xtics ('10 k' 1e4, '100 k' 1e5, '1 M' 1e6)
set xlabel 'measurements in the history (log scale)'
set tmargin screen 0.76
set bmargin screen 0.16
unset key
set multiplot
set label 1 'A history of up to a million measurements' at screen 0.02,0.945 \
    font 'DejaVu Sans Bold,17' textcolor rgb '#222222'
set label 2 '200 benchmarks in 3 launches a run, 100 samples a measurement' at screen 0.02,0.88 \
    textcolor rgb '#666666'

# The name of a line stands at its end.
array names[4] = ['compare, two runs', 'trend, one benchmark', 'trend, all 200', 'list, newest 20']
array inks[4] = [0x0072B2, 0xD55E00, 0xCC79A7, 0x009E73]
array shapes[4] = [7, 5, 13, 9]
set lmargin screen 0.07
set rmargin screen 0.44
set label 3 'time of a whole command' at graph -0.12,1.08 font 'DejaVu Sans Bold,13'
set xrange [3000:2e7]
set logscale y
set yrange [0.01:10]
set ytics ('10 ms' 0.01, '100 ms' 0.1, '1 s' 1, '10 s' 10)
set ylabel 'time (log scale)'
plot for [k = 1:4] data using 1:(column(k + 3)) with linespoints linewidth 2 pointsize 1 \
         linecolor rgb inks[k] pointtype shapes[k], \
     for [k = 1:4] data every ::3::3 using 1:(column(k + 3)):(names[k]) with labels left \
         offset 1,0 textcolor rgb '#222222'
unset label 1
unset label 2

unset logscale y
set xrange [3000:1.5e6]
set xlabel 'measurements (log scale)'
set lmargin screen 0.51
set rmargin screen 0.73
set label 3 'size of one in the file'
set yrange [0:*]
set ytics auto
set format y '%.0f'
set ylabel 'bytes'
plot data using 1:3 with linespoints linewidth 2 pointsize 1 linecolor rgb inks[1] pointtype 7

set lmargin screen 0.80
set rmargin screen 0.98
set label 3 'rate of writing'
set ylabel 'thousand measurements a second'
set format y '%.0f'
plot data using 1:(column(2) / 1000) with linespoints linewidth 2 pointsize 1 linecolor rgb inks[1] \
    pointtype 7
