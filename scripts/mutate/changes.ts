import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sequence } from '../../src/checks/repeatable.ts'

/** One small change of a file: what stood at an offset, and what is written there. */
export type Change = { readonly file: string; readonly at: number; readonly was: string; readonly now: string }

/** `count` changes in the files of a module (src/dnsbl) below `root`; the same seed makes the same changes. */
export function changesIn(root: string, module: string, { count, seed }: { count: number; seed: number }): Change[] {
  const all = filesOf(root, module).flatMap((file) => changesOf(file, readFileSync(join(root, file), 'utf8')))
  const next = sequence(seed)
  return Array.from({ length: Math.min(count, all.length) }, () => all.splice(Math.floor(next() * all.length), 1)[0]!)
}

/** Words, examples and tables of data are held by other tests. */
const filesOf = (root: string, module: string): readonly string[] =>
  readdirSync(join(root, module), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') && !file.endsWith('.test.ts') && !/table-|findings\.ts|examples|zones\.ts/.test(file),
    )
    .map((file) => join(module, file))
    .sort()

const SWAPS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/(?<= )(?:===|!==|<=|>=|<|>|&&|\|\||\+|-|\?\?)(?= )/g, (found) => OTHER[found] ?? found],
  [/(?<![\w.$'`-])\d[\d_]*(?![\w.'`])/g, (found) => String(Number(found.replaceAll('_', '')) + 1)],
  [/\b(?:true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
  [/(?<=[ (])!(?=[a-zA-Z(])/g, () => ''],
  [/^ +(?:void |await )?[a-z]\w*(?:\.\w+)*\([^{}]*\)$/gm, () => ''],
]
const OTHER: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '??': '&&',
}

/** Every change that may be made in a file; imports, types, comments, examples and text in quotes are left alone. */
function changesOf(file: string, source: string): readonly Change[] {
  const blank = (text: string): string => text.replace(/[^\n]/g, '\u0001')
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, blank)
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,= ])\/(?![*/ ])(?:[^/\\\n]|\\.)+\/[a-z]*/g, blank)
    .replace(/^import [\s\S]*?(?=\n(?! {2}|\}))/gm, blank)
    .replace(/^(?:export )?type [\s\S]*?\n(?=\S)/gm, blank)
    .replace(/^ +readonly [^\n]*/gm, blank)
    .replace(/\bexamples?: (?:\{[^}]*\}|[^,\n]*)/g, blank)
  return SWAPS.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)].map((found) => ({ file, at: found.index, was: found[0], now: other(found[0]) })),
  ).filter(({ was, now }) => was !== now)
}
