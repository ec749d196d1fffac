#!/bin/sh
# Makes the sandbox's three looks: NAME.mp4 (9:16, H.264 + AAC), the voiceover voice.wav, and final.mp4, the final video of every job: under
# 300 kB in all.
# Needs Debian's ffmpeg, espeak-ng and fonts-dejavu-core. Run it here: sh make.sh
set -eu
cd "$(dirname "$0")"

font=/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf
length=4
fps=24
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A soft round light, white in the middle and clear at the edge; each look moves two of them over its gradient.
ffmpeg -hide_banner -loglevel error -y -f lavfi -i "color=white:s=300x300:d=0.04,format=rgba" -frames:v 1 \
  -vf "geq=r=255:g=255:b=255:a='90*pow(max(0,1-hypot(X-150,Y-150)/150),1.5)'" "$work/light.png"

# caption TEXT FROM TO SIZE: one line that rises into place at FROM and disappears at TO (seconds).
caption() {
  printf "drawtext=fontfile=%s:text='%s':fontsize=%s:fontcolor=white:shadowcolor=black@0.35:shadowx=0:shadowy=3:" "$font" "$1" "$4"
  printf "x=(w-tw)/2:y='(h-th)/2+28*pow(max(0,1-(t-%s)/0.3),2)':" "$2"
  printf "alpha='min(1,max(0,(t-%s)/0.2))':enable='between(t,%s,%s)'" "$2" "$2" "$3"
}

# speak VOICE SPEED TEXT FILE: speech without silence around it, in a WAV file.
speak() {
  espeak-ng -v "$1" -s "$2" -w "$work/speech.wav" "$3"
  ffmpeg -hide_banner -loglevel error -y -i "$work/speech.wav" \
    -af "silenceremove=start_periods=1:start_threshold=-45dB,areverse,silenceremove=start_periods=1:start_threshold=-45dB,areverse,loudnorm=I=-18:TP=-2" \
    -ac 1 -ar 11025 -c:a pcm_s16le -bitexact -map_metadata -1 "$4"
}

# look NAME VOICE SPEED COLOURS SPOKEN LINE1 LINE2 LINE3
look() {
  name=$1
  speak "$2" "$3" "$5" "$work/$name.wav"

  ffmpeg -hide_banner -loglevel error -y \
    -f lavfi -i "gradients=s=360x640:r=$fps:d=$length:type=linear:speed=0.012:seed=3:$4" \
    -loop 1 -framerate $fps -t $length -i "$work/light.png" -i "$work/$name.wav" \
    -filter_complex "
      [1:v]split[near][far];
      [0:v][near]overlay=x='30+90*sin(2*PI*t/$length)':y='90+60*cos(2*PI*t/$length)':shortest=1[a];
      [a][far]overlay=x='40-100*sin(2*PI*t/$length)':y='320+50*sin(2*PI*t/$length)':shortest=1[b];
      [b]drawbox=x=117:y=44:w=126:h=34:color=black@0.28:t=fill,
      drawtext=fontfile=$font:text='SANDBOX':fontsize=17:fontcolor=white:x=(w-tw)/2:y=53,
      $(caption "$6" 0.05 1.1 40),
      $(caption "$7" 1.1 2.3 40),
      $(caption "$8" 2.3 $length 34),
      drawtext=fontfile=$font:text='sample clip · nothing was rendered':fontsize=13:fontcolor=white@0.9:shadowcolor=black@0.3:shadowy=1:x=(w-tw)/2:y=572[c];
      color=white:s=280x4:r=$fps:d=$length[bar];
      color=black:s=280x4:r=$fps:d=$length,format=rgba,colorchannelmixer=aa=0.25[track];
      [c][track]overlay=x=40:y=604[d];
      [bar]format=rgba,geq=r=255:g=255:b=255:a='if(lt(X,280*T/$length),225,0)'[fill];
      [d][fill]overlay=x=40:y=604:shortest=1,format=yuv420p[v]" \
    -map "[v]" -map 2:a -t $length -c:v libx264 -profile:v high -preset veryslow -crf 29 -g 96 \
    -c:a aac -b:a 32k -ar 22050 -ac 1 -bitexact -map_metadata -1 -movflags +faststart "$name.mp4"
}

look dusk en-us+f3 200 "nb_colors=3:c0=0x2b1055:c1=0xd53369:c2=0xe0702c:x0=0:y0=0:x1=360:y1=640" \
  "This is a sandbox clip. Your story goes here." "This is" "a sandbox clip" "Your story here"
cp "$work/dusk.wav" voice.wav
look tide en-gb+m3 200 "nb_colors=3:c0=0x03304f:c1=0x1278a8:c2=0x249c98:x0=360:y0=0:x1=0:y1=640" \
  "A sandbox voiceover. Nothing was charged." "A sandbox" "voiceover" "Nothing charged"
look grove en-us+f4 200 "nb_colors=3:c0=0x14503c:c1=0x3f8f4f:c2=0xc9a227:x0=0:y0=640:x1=360:y1=0" \
  "Just a placeholder. Your video comes later." "Just a" "placeholder" "Your video later"

# The final video: 90 pictures with a bar that fills up, in black and violet, so that nobody takes it for a clip.
final() {
  speak en-us+f3 180 "This stands in for your final video. It is a sandbox: nothing was rendered, charged or posted." "$work/final.wav"
  ffmpeg -hide_banner -loglevel error -y \
    -f lavfi -i "gradients=s=360x640:r=10:d=9:type=radial:speed=0.00001:nb_colors=2:c0=0x5b21b6:c1=0x0b0714:x0=180:y0=270:x1=180:y1=640" \
    -f lavfi -i "color=white:s=280x6:r=10:d=9" -i "$work/final.wav" \
    -filter_complex "
      [0:v]drawbox=x=117:y=44:w=126:h=34:color=white@0.16:t=fill,
      drawtext=fontfile=$font:text='SANDBOX':fontsize=17:fontcolor=white:x=(w-tw)/2:y=53,
      drawtext=fontfile=$font:text='This stands in for':fontsize=24:fontcolor=white@0.8:x=(w-tw)/2:y=230,
      drawtext=fontfile=$font:text='your final video':fontsize=37:fontcolor=white:x=(w-tw)/2:y=270,
      drawtext=fontfile=$font:text='nothing was rendered, charged or posted':fontsize=13:fontcolor=white@0.9:x=(w-tw)/2:y=560,
      drawbox=x=40:y=600:w=280:h=6:color=white@0.2:t=fill[card];
      [1:v]format=rgba,geq=r=255:g=255:b=255:a='if(lte(X,280*(N+1)/90),230,0)'[bar];
      [card][bar]overlay=x=40:y=600:shortest=1,format=yuv420p[v]" \
    -map "[v]" -map 2:a -frames:v 90 -c:v libx264 -profile:v high -preset veryslow -crf 27 -g 45 \
    -c:a aac -b:a 32k -ar 22050 -ac 1 -bitexact -map_metadata -1 -movflags +faststart final.mp4
}

final

ls -l ./*.mp4 ./*.wav
