import type { z } from 'zod'
import type { Problem } from './problem.ts'
import { fieldProblem, problemOf, syntaxProblem } from './schema-problems.ts'

type Path = readonly PropertyKey[]
type Read<T> =
  | { readonly ok: true; readonly value: T; readonly lineOf: (path: Path) => number }
  | { readonly ok: false; readonly line: number; readonly problem: Problem }

/** Reads JSON that a person wrote by a schema. A problem, and each value, has the line on which it begins, from 1. */
export function readJsonText<S extends z.ZodType>(text: string, schema: S): Read<z.output<S>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = (error as Error).message
    const at = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    return {
      ok: false,
      line: lineAt(text, at),
      problem: syntaxProblem(message.split(' in JSON')[0]!),
    }
  }
  const lineOf = (path: Path): number => lineAt(text, placeOf(text, path))
  const read = schema.safeParse(value)
  if (read.success) return { ok: true, value: read.data, lineOf }
  const issue = read.error.issues[0]!
  const names = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path
  const why = problemOf(issue)
  const field = issue.path.filter((one) => typeof one === 'string').join('.')
  return {
    ok: false,
    line: lineOf(names),
    problem: field === '' ? why : fieldProblem(field, why),
  }
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Where the value at a path begins in valid JSON; of one that is missing, where the last value on the way begins. */
function placeOf(text: string, path: Path): number {
  let found = 0
  let depth = 0
  // The keys and indexes at each level of the token, and how far they agree with the path.
  const at: { key: PropertyKey; isList: boolean }[] = []
  let agreed = 0
  let isKey = false
  const begins = (place: number): void => {
    const level = at.length
    if (level === agreed + 1 && at[level - 1]!.key === path[agreed]) {
      agreed = level
      found = place
    } else if (level === 0) found = place
  }
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === ',') {
      const top = at.at(-1)
      if (agreed > at.length - 1) return found // the value on the path is over
      if (top?.isList) top.key = Number(top.key) + 1
      isKey = top !== undefined && !top.isList
    } else if (token === '{' || token === '[') {
      if (!isKey) begins(index)
      at.push({ key: token === '[' ? 0 : '', isList: token === '[' })
      isKey = token === '{'
      depth++
    } else if (token === '}' || token === ']') {
      if (--depth < agreed && agreed > 0) return found
      at.pop()
      isKey = false
    } else if (token !== ':') {
      if (isKey) {
        at.at(-1)!.key = JSON.parse(token)
        isKey = false
      } else begins(index)
    }
    if (agreed === path.length && agreed > 0) return found
  }
  return found
}
