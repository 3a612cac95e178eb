import { printable } from '../base/text.ts'
import type { CheckHostAnswer } from '../checks/spf/index.ts'
import type { Envelope } from './envelope.ts'

/** Why SPF has its result, in a sentence. */
export function presentMechanism({ result, mechanism, domain }: CheckHostAnswer, { ip, mailFrom }: Envelope): string {
  const whose = `${printable(domain, 253)}${mailFrom === '' ? ' (the HELO name, because the envelope sender is empty)' : ''}`
  const by = mechanism === undefined || mechanism === 'default' ? '' : ` by ${printable(mechanism, 100)}`
  switch (result) {
    case 'pass':
      return `${ip} may send for ${whose}${by}`
    case 'fail':
      return `${whose} forbids ${ip}${by}`
    case 'softfail':
      return `${whose} does not expect mail from ${ip}${by}`
    case 'neutral':
      return `${whose} says nothing about ${ip}${by}`
    case 'none':
      return `${whose} has no SPF record`
    case 'permerror':
      return `the SPF record of ${whose} cannot be evaluated`
    case 'temperror':
      return `a lookup for the SPF record of ${whose} had no answer`
  }
}
