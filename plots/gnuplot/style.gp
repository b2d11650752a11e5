# Terminals and the frame of all figures. The script above has set: name, width, height (pixels).
# PNG is drawn `scale` times as large, twice by default; font sizes are pixels in all three (pngcairo counts 96 dpi,
# pdfcairo 72). SVG draws points larger than the other two: `point` makes up for it.
if (!exists('format')) format = 'png'
if (!exists('scale')) scale = 2.0
# A character that no font had where this was written is a box, but not in SVG, whose fonts are the
# viewer's. Where a font has it: -e "boxes = 0".
if (!exists('boxes')) boxes = format ne 'svg'
point = format eq 'svg' ? 0.69 : 1
if (format eq 'svg') {
    set terminal svg size width,height noenhanced font 'DejaVu Sans,12' background rgb 'white'
} else {
    if (format eq 'pdf') {
        set terminal pdfcairo size width/72.0 in,height/72.0 in noenhanced \
            font 'DejaVu Sans,12' fontscale 0.75 linewidth 1 pointscale 1
    } else {
        set terminal pngcairo size scale*width,scale*height noenhanced font 'DejaVu Sans,12' \
            fontscale 0.75*scale linewidth scale pointscale scale background rgb 'white'
    }
}
set encoding utf8
set output name . '.' . format
set datafile separator "\t"
unset key
unset colorbox
set tics nomirror out font 'DejaVu Sans,12' textcolor rgb '#222222'
set clip two
