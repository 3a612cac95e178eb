#!/bin/sh
# Makes src/pages/fonts: subsets of IBM Plex Sans and Mono (SIL Open Font License 1.1), with Latin letters and the signs that pages use. Needs npm and
# pyftsubset (Debian: fonttools, python3-brotli). `scripts/fonts.sh`, when the set of characters changes.
set -eu
out=$(cd "$(dirname "$0")/../src/pages/fonts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-save --prefix . @fontsource/ibm-plex-sans@5.3.0 @fontsource/ibm-plex-mono@5.3.0
characters=U+0020-007E,U+00A0-00FF,U+2010-2014,U+2018-201E,U+2022,U+2026,U+20AC,U+2190-2193,U+2212,U+2264,U+2265
subset() {
  pyftsubset "node_modules/@fontsource/$1/files/$1-latin-$2-normal.woff2" --unicodes=$characters \
    --layout-features=kern,liga,tnum,zero,ccmp,locl,mark --flavor=woff2 --no-hinting --desubroutinize --name-IDs=0,13,14 --output-file="$out/$3.woff2"
}
subset ibm-plex-sans 400 text-400
subset ibm-plex-sans 600 text-600
subset ibm-plex-mono 400 code-400
