import { expect, it } from 'vitest'
import project from '../../package.json' with { type: 'json' }
import { tooOld } from './node-version.js'

it.each<[version: string, isOld: boolean]>([
  ['v18.20.8', true],
  ['v20.20.2', true],
  ['v22.18.0', true],
  ['v22.19.0', false],
  ['v24.0.0', false],
  ['v100.1.0', false],
])('%s is too old: %s', (version, isOld) => expect(tooOld(version) !== undefined).toBe(isOld))

it('names the version that the package asks for', () =>
  expect(tooOld('v20.20.2')).toContain(`Node.js ${project.engines.node.replace('>=', '')} or later; this is v20.20.2`))
