import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import type { Guest } from './guest.ts'
import { quiescence } from './heal.ts'
import { announceArrivals, launchTo, openReaders, textInVain } from './letters.ts'
import type { Scene } from './stories.ts'

type Story = 'campaign' | 'silent' | 'dated'
type Rest = () => Promise<void>

const restMs = 60_000
const readers = 3

/**
 * Plays what comes before a step at which a process is to die, and waits for rest, so that no other message comes to that point first. Answers the
 * step: the rest follows from it by itself.
 */
export const begin = async (scene: Scene, story: Story, guest: Guest): Promise<Rest> => {
  const { town, database, house, inbox, refusals } = scene
  await guest.pay({ method: 'card', cardToken: 'success' })
  const isConfirmed = async () =>
    (await sql(database, `select from reservation where booking_id = ? and status = 'confirmed'`, [guest.bookingId]))
      .length > 0
  await until(isConfirmed, { withinMs: restMs, everyMs: 200, what: 'the confirmation' })
  const rested = () => quiescence(database, restMs)
  switch (story) {
    case 'campaign': {
      const tag = `camp-${guest.bookingId.slice(0, 8)}`
      const apis = town.fleet.of('api').map((each) => each.baseUrl)
      const opened = await openReaders(house, { apis, inbox, tag, many: readers })
      refusals.push(...opened.refusals)
      await rested()
      return async () => void (await launchTo(house, tag))
    }
    case 'silent': {
      await rested()
      const id = await textInVain(house, guest.bookingId)
      const isSent = async () =>
        (await sql(database, `select from message where id = ? and status = 'sent' and fallback_at is not null`, [id]))
          .length > 0
      await until(isSent, { withinMs: restMs, everyMs: 200, what: 'a text that is with the carrier' })
      await rested()
      return async () => {
        await sql(
          database,
          `update jobs set run_at = now() where kind = 'messages.fall-back' and status = 'pending' and payload->>'messageId' = ?`,
          [id],
        )
      }
    }
    case 'dated':
      await rested()
      return async () => void (await announceArrivals(house, `tomorrow ${guest.bookingId}`))
  }
}
