import { expect, it } from 'vitest'
import type { JsonObject } from '../base/json.ts'
import { dmarc } from './dmarc.ts'
import type { Operation } from './operation.ts'
import { spf } from './spf.ts'

it.each<[Operation, JsonObject, string]>([
  [spf, { result: 'pass' }, 'good'],
  [spf, { result: 'none' }, 'good'], // nothing is said, nothing is refused
  [spf, { result: 'neutral' }, 'good'],
  [spf, { result: 'softfail' }, 'bad'],
  [spf, { result: 'fail' }, 'bad'],
  [spf, { result: 'permerror' }, 'bad'],
  [spf, { result: 'temperror' }, 'unclear'],
  [dmarc, { valid: true, status: 'warn' }, 'good'],
  [dmarc, { valid: false, status: 'fail' }, 'bad'],
  [dmarc, { valid: false, status: 'unknown' }, 'unclear'], // a SERVFAIL is no missing record
])('$name: %o is %s', (operation, answer, verdict) => expect(operation.verdict?.(answer)).toBe(verdict))
