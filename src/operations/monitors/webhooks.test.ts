import { expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../../test/lab/app.ts'
import { labWebhooks } from '../../../test/lab/monitors.ts'
import { labWorld } from '../../../test/lab/world.ts'
import { deliveryListAnswer } from '../../answers/webhooks.ts'
import { exampleWebhook } from './shared.ts'
import { webhookDeliveries } from './webhooks.ts'

/** A webhook with deliveries 9 to 1, newest first. */
const execute = (() => {
  const world = labWorld()
  const deliveries: typeof labWebhooks.deliveries = async (id, { limit, before = 10 }, owner) => {
    const [one] = await labWebhooks.deliveries(id, { limit }, owner)
    return Array.from({ length: Math.min(limit, before - 1) }, (_, i) => ({ ...one!, number: before - 1 - i }))
  }
  return labExecutor(world, labDeps(world, { webhooks: async () => ({ ...labWebhooks, deliveries }) }))
})()

it.each<[string, string, number, boolean]>([
  ['a page of two, and more', '2', 2, true],
  ['one less than there are', '8', 8, true],
  ['as many as there are', '9', 9, false],
  ['more than there are', '10', 9, false],
])('deliveries: %s', async (_, limit, length, hasMore) => {
  const { answer } = await execute(webhookDeliveries, { ...exampleWebhook, limit }, {})
  const { data, has_more, next_cursor } = deliveryListAnswer.parse(answer)
  expect([data.length, has_more, next_cursor !== null]).toEqual([length, hasMore, hasMore])
})
