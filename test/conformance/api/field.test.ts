import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labZone } from '../../archetypes/lab.ts'
import { labApp } from '../../lab/app.ts'
import { corpus } from '../../lab/corpora.ts'
import { labDial } from '../../lab/dial.ts'
import { labWorld } from '../../lab/world.ts'

type Wanted = {
  readonly any?: readonly Wanted[]
  readonly status?: number | readonly number[]
  readonly fields?: Readonly<Record<string, unknown>>
  readonly says?: string
  readonly never?: string
}
type Case = { readonly id: string; readonly request: string; readonly expect: Wanted }
const data = corpus('field/api.json')
const cases: readonly Case[] = data?.cases ?? []
const ACCEPTED = ['joe', 'joe+news', 'ann'].map((local) => [`${local}@paste-field.net`, '250 2.1.5 OK'])

let app: Awaited<ReturnType<typeof labApp>>
beforeAll(async () => {
  const { dial } = labDial({ '127.40.0.2': { rcpt: Object.fromEntries(ACCEPTED) } })
  app = await labApp(labWorld(labZone(data?.zone ?? {}), { dial }))
})
afterAll(() => app?.close())

async function ask(request: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const [, method, url, body] = /^(GET|POST) (\S+)(?: (.+))?$/s.exec(request) ?? []
  const response = await app.inject({
    method: method as 'GET' | 'POST',
    url: url!,
    ...(body !== undefined && { payload: `${body}\r\n\r\n`, headers: { 'content-type': 'message/rfc822' } }),
  })
  return { status: response.statusCode, body: response.json() }
}

/** What is wrong with an answer; empty: nothing. `says` is searched in what does not echo the input. */
function faultsOf(wanted: Wanted, { status, body }: Awaited<ReturnType<typeof ask>>): readonly string[] {
  if (wanted.any) {
    const all = wanted.any.map((one) => faultsOf(one, { status, body }))
    return all.find((faults) => faults.length === 0) ?? all.flat()
  }
  const faults: string[] = []
  const is = (pattern: string, text: string): boolean => new RegExp(pattern.replace(/^\(\?i\)/, ''), 'i').test(text)
  const words = [body.detail, body.message, body.asked, body.email].map(String).join('\n')
  if (wanted.status !== undefined && ![wanted.status].flat().includes(status)) faults.push(`status ${status}: ${words}`)
  if (wanted.says !== undefined && !is(wanted.says, words)) faults.push(`does not say ${wanted.says}: ${words}`)
  if (wanted.never !== undefined && is(wanted.never, words)) faults.push(`says ${wanted.never}`)
  for (const [name, value] of Object.entries(wanted.fields ?? {}))
    if (![value].flat().includes(body[name] ?? null)) faults.push(`${name} is ${body[name]}`)
  return faults
}

describe.runIf(cases.length > 0)('values as people paste them', () => {
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    expect(faultsOf(one.expect, await ask(one.request))).toEqual([])
  })
})
