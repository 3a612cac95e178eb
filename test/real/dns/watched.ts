import { writeFileSync } from 'node:fs'
import { STATE, WATCHED_SERVERS } from '../addresses.ts'
import { runTool } from '../processes.ts'
import { forgetAnswers } from '../rbl/servers.ts'
import { RSA_2048 } from './keys.ts'
import { txt } from './zone.ts'

/** The records of `watched.test` that a test changes; absent is not published. */
export type Watched = {
  readonly mx?: string
  readonly spf?: string
  readonly dmarc?: string
  readonly dkim?: boolean
}

let serial = 2026020100

/** Publishes the records at knot, in place of those before, and empties the resolver's cache. */
export async function publish({ mx, spf, dmarc, dkim }: Watched): Promise<void> {
  const lines = [
    `@ SOA ns1.watched.test. hostmaster.lab.test. ${++serial} 7200 900 1209600 300`,
    ...WATCHED_SERVERS.flatMap((address, n) => [`@ NS ns${n + 1}.watched.test.`, `ns${n + 1} A ${address}`]),
    ...(mx === undefined ? [] : [`@ MX 10 ${mx}.`]),
    ...(spf === undefined ? [] : [`@ TXT ${txt(spf)}`]),
    ...(dmarc === undefined ? [] : [`_dmarc TXT ${txt(dmarc)}`]),
    ...(dkim === false ? [] : [`s1._domainkey TXT ${txt(`v=DKIM1; k=rsa; p=${RSA_2048}`)}`]),
  ].map((line) => line.replace(/^(\S+) /, '$1 300 IN '))
  writeFileSync(`${STATE}/zones/watched.test.leaf.zone`, `$ORIGIN watched.test.\n${lines.join('\n')}\n`)
  await runTool('knotc', ['-b', '-c', `${STATE}/knot-leaf/knot.conf`, 'zone-reload', 'watched.test'])
  await forgetAnswers()
}

/** Has the resolver say that the domain does not exist, or say what is so again. */
export async function deny(isDenied: boolean): Promise<void> {
  const words = isDenied ? ['local_zone', 'watched.test.', 'always_nxdomain'] : ['local_zone_remove', 'watched.test.']
  await runTool('unbound-control', ['-s', `${STATE}/unbound.control`, '-c', `${STATE}/unbound.conf`, ...words])
  await forgetAnswers()
}
