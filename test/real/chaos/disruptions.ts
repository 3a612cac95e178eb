import type pg from 'pg'
import { runTool } from '../processes.ts'

/** What breaks a connection without a word. All of it is undone when `during` has ended. */

/** Cuts a machine off from everything. */
export async function cutOff(address: string, during: () => Promise<void>): Promise<void> {
  const rules = [
    ['INPUT', '-s', address],
    ['OUTPUT', '-d', address],
  ]
  await withRules(rules, during)
}

/** Drops what belongs to the connections that a machine has to the database now: they stay half open. New ones work. */
export async function halfOpen(
  client: pg.Client,
  database: string,
  address: string,
  during: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ port: number }>(
    'SELECT client_port AS port FROM pg_stat_activity WHERE client_addr = $1::inet',
    [address],
  )
  const rules = rows.flatMap(({ port }) => [
    ['INPUT', '-p', 'tcp', '-s', address, '--sport', String(port), '-d', database],
    ['OUTPUT', '-p', 'tcp', '-d', address, '--dport', String(port), '-s', database],
  ])
  await withRules(rules, during)
}

async function withRules(rules: readonly (readonly string[])[], during: () => Promise<void>): Promise<void> {
  const change = async (flag: string): Promise<void> => {
    for (const [chain, ...rule] of rules) await runTool('iptables', ['-w', flag, chain!, ...rule, '-j', 'DROP'])
  }
  await change('-I')
  try {
    await during()
  } finally {
    await change('-D')
  }
}
