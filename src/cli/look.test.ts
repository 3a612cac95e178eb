import { expect, it } from 'vitest'
import { lookOf } from './look.ts'

const terminal = { isTTY: true, columns: 120 }
const pipe = {}

it.each<[what: string, output: typeof pipe | typeof terminal, env: Record<string, string>, seen: object]>([
  ['a terminal', terminal, {}, { width: 120, colour: true, unicode: true }],
  ['a pipe', pipe, {}, { width: 80, colour: false, unicode: true }],
  ['a pipe that is told how wide', pipe, { COLUMNS: '100' }, { width: 100 }],
  ['a width that is none', pipe, { COLUMNS: 'wide' }, { width: 80 }],
  ['a terminal that does not know its width', { isTTY: true, columns: 0 }, {}, { width: 80 }],
  ['NO_COLOR', terminal, { NO_COLOR: '1' }, { colour: false }],
  ['an empty NO_COLOR is none', terminal, { NO_COLOR: '' }, { colour: true }],
  ['NO_COLOR beats what forces', terminal, { NO_COLOR: '1', FORCE_COLOR: '1', CLICOLOR_FORCE: '1' }, { colour: false }],
  ['CLICOLOR=0', terminal, { CLICOLOR: '0' }, { colour: false }],
  ['CLICOLOR in a pipe', pipe, { CLICOLOR: '1' }, { colour: false }],
  ['FORCE_COLOR in a pipe', pipe, { FORCE_COLOR: '1' }, { colour: true }],
  ['FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, { colour: false }],
  ['CLICOLOR_FORCE in a pipe', pipe, { CLICOLOR_FORCE: '1' }, { colour: true }],
  ['CLICOLOR_FORCE=0 in a pipe', pipe, { CLICOLOR_FORCE: '0' }, { colour: false }],
  ['a dumb terminal', terminal, { TERM: 'dumb' }, { colour: false, unicode: false }],
  ['256 colours by TERM', terminal, { TERM: 'xterm-256color' }, { colour: true, has256: true }],
  ['256 colours by COLORTERM', terminal, { TERM: 'xterm', COLORTERM: 'truecolor' }, { has256: true }],
  ['16 colours', terminal, { TERM: 'xterm' }, { colour: true, has256: false }],
  ['the locale C', terminal, { LANG: 'C' }, { unicode: false }],
  ['LC_ALL before LANG', terminal, { LC_ALL: 'C', LANG: 'en_US.UTF-8' }, { unicode: false }],
  ['an empty LC_ALL', terminal, { LC_ALL: '', LANG: 'de_DE.utf8' }, { unicode: true }],
  ['Latin-1', terminal, { LANG: 'de_DE.ISO-8859-1' }, { unicode: false }],
  ['the console of Linux', terminal, { TERM: 'linux' }, { unicode: false }],
])('%s', (_, output, env, seen) => expect(lookOf(output, env)).toMatchObject(seen))
