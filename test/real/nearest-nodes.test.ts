import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labMmdb } from '../lab/mmdb.ts'
import { STATE } from './addresses.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from './nodes.ts'
import { untilReady } from './processes.ts'

/**
 * `peer=auto`: by state toward the provider, then by distance to the mail host, then by load. Postfix refuses
 * 45.53.1.240/29 at rcpt.test.
 */
const ASKED: Machine = { name: 'asked', addresses: ['45.53.3.46'] }
const NEAR: Machine = { name: 'near', addresses: ['45.53.3.43', '45.53.1.241'] }
const FAR: Machine = { name: 'far', addresses: ['45.53.3.44'] }
const BUSY: Machine = { name: 'busy', addresses: ['45.53.3.45'] }
const MACHINES = [ASKED, NEAR, FAR, BUSY] as const

const BERLIN = { country: { iso_code: 'DE' }, location: { latitude: 52.5, longitude: 13.4 } }
const NEW_YORK = { country: { iso_code: 'US' }, location: { latitude: 40.7, longitude: -74 } }

let nodes: Readonly<Record<string, Node>> = {}
beforeAll(async () => {
  for (const machine of MACHINES) plugIn(machine)
  const places = { '45.53.5.0/24': BERLIN, '45.53.1.241/32': BERLIN, '45.53.3.44/31': NEW_YORK }
  writeFileSync(`${STATE}/places.mmdb`, labMmdb(places))
  const asked = await startNode(ASKED, { data: dataFolder(), flags: ['--geo-db', `${STATE}/places.mmdb`] })
  const others = await Promise.all(
    [NEAR, FAR, BUSY].map(async (machine) => {
      const flags = ['--join', asked.url, '--pool', machine.addresses.at(-1)!]
      return [machine.name, await startNode(machine, { data: dataFolder(), flags })] as const
    }),
  )
  nodes = { asked, ...Object.fromEntries(others) }
  await untilReady(
    'node-asked',
    async () => ((await asked.get('/v1/peer/peers')).body as { total: number }).total === 3,
  )
}, 60_000)
afterAll(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.end('SIGTERM')))
  for (const machine of MACHINES) unplug(machine)
})

type Verified = { readonly result: string; readonly peer?: string }
let count = 0
/** Asks about another mailbox each time: answers are cached. */
const verify = async (domain: string): Promise<string> => {
  const { body } = await nodes.asked!.get(`/v1/verify?email=user${++count}@${domain}&peer=auto&timeout=20s&max_age=0`)
  const { result, peer } = body as Verified
  return `${peer ?? 'here'} ${result}`
}

it('the node that is nearest to the mail host verifies', async () => {
  expect([await verify('catchall.test'), await verify('catchall.test')]).toEqual(Array(2).fill('near catch_all'))
})

it('one that a provider has refused is left out toward that provider, and toward no other', async () => {
  const first = await verify('rcpt.test')
  expect(first).toBe('near blocked')
  for (const next of [await verify('rcpt.test'), await verify('rcpt.test')])
    expect(next).toMatch(/^(?:far|busy) rejected$/)
  expect(await verify('catchall.test')).toBe('near catch_all')
})

it('of two that are equally far the one with less to do', async () => {
  const waiting = Array.from({ length: 20 }, (_, n) =>
    nodes.busy!.get(`/v1/verify?email=u${n}@deadhost.test&timeout=5s`).catch(() => undefined),
  )
  type Peer = { readonly id: string; readonly load?: { readonly active: number } }
  const loadOf = async () => {
    const { peers } = (await nodes.asked!.get('/v1/peer/peers')).body as { peers: readonly Peer[] }
    return peers.find(({ id }) => id === 'busy')?.load?.active ?? 0
  }
  await expect.poll(loadOf, { timeout: 10_000, interval: 100 }).toBeGreaterThan(5)
  const chosen = []
  for (let turn = 0; turn < 5; turn++) chosen.push(await verify('rcpt.test'))
  expect(chosen).toEqual(Array(5).fill('far rejected'))
  await Promise.all(waiting)
}, 40_000)
