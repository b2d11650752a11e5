# Terminals and the frame of all figures. The script above has set: name, width, height (pixels).
# PNG is drawn at twice the size; font sizes are pixels in all three (pngcairo counts 96 dpi,
# pdfcairo 72). SVG draws points larger than the other two: `point` makes up for it.
if (!exists('format')) format = 'png'
point = format eq 'svg' ? 0.69 : 1
if (format eq 'svg') {
    set terminal svg size width,height noenhanced font 'DejaVu Sans,12' background rgb 'white'
} else {
    if (format eq 'pdf') {
        set terminal pdfcairo size width/72.0 in,height/72.0 in noenhanced \
            font 'DejaVu Sans,12' fontscale 0.75 linewidth 1 pointscale 1
    } else {
        set terminal pngcairo size 2*width,2*height noenhanced font 'DejaVu Sans,12' \
            fontscale 1.5 linewidth 2 pointscale 2 background rgb 'white'
    }
}
set encoding utf8
set output name . '.' . format
set datafile separator "\t"
unset key
unset colorbox
set tics nomirror out font 'DejaVu Sans,12' textcolor rgb '#222222'
set clip two
