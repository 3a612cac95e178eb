import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { type Layout, readList } from '../../../src/jobs/intake/intake.ts'
import type { IntakeRow } from '../../../src/jobs/intake/row.ts'
import { parseEmail } from '../../../src/names/email.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'

type Wanted = {
  readonly any?: readonly Wanted[]
  readonly accepted?: readonly string[]
  readonly contains?: readonly string[]
  readonly several?: readonly string[]
  readonly columns?: readonly string[]
  readonly never_input?: string
  readonly extra_ok?: string
  readonly bad_ok?: boolean
  readonly fate?: Readonly<Record<string, { readonly result: readonly string[] }>>
  readonly refuse?: string
}
type Case = { readonly id: string; readonly media: string; readonly expect: Wanted }
const cases: readonly Case[] = corpus('field/lists/expected.json')?.cases ?? []

async function read({ id, media }: Case) {
  const rows: IntakeRow[] = []
  let layout: Layout | undefined
  const octets = readFileSync(join(CORPORA, 'field/lists', id))
  const list = readList(
    (async function* () {
      yield octets
    })(),
    { kind: 'verify', contentType: media, bounds: { maxUpload: 1e6 }, found: (one) => void (layout = one) },
  )
  try {
    for await (const row of list) rows.push(row)
    return { rows, layout, refused: '' }
  } catch (error) {
    if (error instanceof AppError) return { rows, layout, refused: error.message }
    throw error
  }
}

/** What is wrong with a list that was read; empty: nothing. */
function faultsOf(wanted: Wanted, got: Awaited<ReturnType<typeof read>>): readonly string[] {
  if (wanted.any) {
    const all = wanted.any.map((one) => faultsOf(one, got))
    return all.find((faults) => faults.length === 0) ?? all.flat()
  }
  const is = (pattern: string, text: string): boolean => new RegExp(pattern.replace(/^\(\?i\)/, ''), 'i').test(text)
  if (wanted.refuse !== undefined) return is(wanted.refuse, got.refused) ? [] : [`not refused: ${got.refused}`]
  if (got.refused !== '') return [got.refused]
  const good = got.rows.flatMap((row) => (row.ok ? [row] : []))
  const accepted = good.map(({ input }) => input).filter((input) => parseEmail(input).ok)
  const faults: string[] = []
  if (wanted.accepted) {
    const sure = accepted.filter((one) => wanted.extra_ok === undefined || !one.startsWith(wanted.extra_ok))
    if (String(sure) !== String(wanted.accepted)) faults.push(`read ${sure}`)
    const others = got.rows.length - accepted.length
    if (others > 0 && !wanted.bad_ok) faults.push(`${others} other rows`)
  }
  for (const one of [...(wanted.contains ?? []), ...(wanted.several ?? [])])
    if (!accepted.includes(one)) faults.push(`not read: ${one}`)
  const { header } = { header: null, ...got.layout }
  if (wanted.columns?.some((name) => !header?.includes(name))) faults.push(`columns ${header}`)
  const { never_input: never } = wanted
  if (never !== undefined) for (const { input } of good) if (is(never, input)) faults.push(`verifies ${input}`)
  for (const [input, { result }] of Object.entries(wanted.fate ?? {})) {
    const row = good.find((one) => one.input === input || JSON.stringify(one.columns).includes(input))
    const fate = !row ? 'none' : parseEmail(row.input).ok ? 'accepted' : 'invalid'
    if (!result.includes(fate)) faults.push(`${input} is ${fate}`)
  }
  return faults
}

describe.runIf(cases.length > 0)('lists as people have them', () => {
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    expect(faultsOf(one.expect, await read(one))).toEqual([])
  })
})
