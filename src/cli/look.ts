import type { Look } from '../documents/terminal/terminal.ts'

/** Width of a terminal that does not report it, columns. */
const USUAL_WIDTH = 80

type Output = { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }
type Environment = Readonly<Record<string, string | undefined>>

/**
 * What the output supports. Width: that of the terminal, else `COLUMNS`, else 80. Colours: `NO_COLOR` turns them off
 * (no-color.org), else `CLICOLOR_FORCE` or `FORCE_COLOR` turns them on, else a terminal has them unless `CLICOLOR=0` or
 * `TERM=dumb`; 256 colours if `TERM` or `COLORTERM` says so. Characters beyond ASCII: by the locale; without a locale,
 * yes.
 */
export const lookOf = (output: Output, env: Environment): Look => ({
  width: widthOf(output, env),
  colour: hasColour(output, env),
  has256: /256color|direct/.test(env.TERM ?? '') || /truecolor|24bit/i.test(env.COLORTERM ?? ''),
  unicode: hasUnicode(env),
})

function widthOf({ columns }: Output, { COLUMNS: told = '' }: Environment): number {
  if (columns !== undefined && columns > 0) return columns
  return /^[1-9]\d{0,4}$/.test(told) ? Number(told) : USUAL_WIDTH
}

function hasColour({ isTTY }: Output, env: Environment): boolean {
  if (isSet(env.NO_COLOR)) return false
  const force = env.CLICOLOR_FORCE ?? env.FORCE_COLOR
  if (force !== undefined) return !/^(?:0|false)?$/.test(force)
  return isTTY === true && env.CLICOLOR !== '0' && env.TERM !== 'dumb'
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ''

/** The first of these that is set decides (POSIX.1-2024 §8.2). */
function hasUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find(isSet)
  if (locale === undefined) return TERM !== 'linux' && TERM !== 'dumb'
  return /utf-?8/i.test(locale)
}
