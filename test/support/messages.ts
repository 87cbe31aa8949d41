import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import type { MessageAttemptRow, MessageRow } from '../../db/rows.ts'
import { closeMail } from '../../workers/providers/smtp.ts'
import { useDatabase } from './database.ts'
import type { Database } from './database.ts'
import { drain } from './drain.ts'
import { makeHouse } from './factories.ts'
import type { House } from './factories.ts'
import { startMailPeer } from './mail-peer.ts'
import type { MailPeer } from './mail-peer.ts'
import { makeHold } from './stay.ts'
import type { HoldOptions, StayOptions } from './stay.ts'

/** An SMTP peer that the service sends to while the surrounding describe runs. */
export const useMailPeer = (): { readonly peer: MailPeer } => {
  const held: { peer: MailPeer | null; before: string | null } = { peer: null, before: null }
  before(async () => {
    held.before = settings.smtpUrl
    held.peer = await startMailPeer()
    settings.smtpUrl = held.peer.url
  })
  beforeEach(() => {
    held.peer?.behave('accept')
    held.peer?.mails.splice(0)
  })
  after(async () => {
    settings.smtpUrl = held.before
    closeMail()
    await held.peer?.stop()
  })
  return {
    get peer() {
      if (!held.peer) throw new Error('the peer is there from the first before hook on')
      return held.peer
    },
  }
}

type Request = Parameters<typeof queueMessage>[1]

/** A database, an SMTP peer, and for each test a house of its own with nothing left to do from the test before. */
export const useMailHouse = (): {
  readonly database: Database
  readonly peer: MailPeer
  readonly house: House
  /** Queues one e-mail to Ana, unless the request says otherwise. */
  readonly queue: (request?: Partial<Request>) => Promise<string | null>
} => {
  const world = useDatabase()
  const mail = useMailPeer()
  const held: { house: House | null } = { house: null }
  const here = () => {
    if (!held.house) throw new Error('the house is there in each test')
    return held.house
  }
  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs')
    held.house = await makeHouse({ deposit: null })
  })
  return {
    get database() {
      return world.database
    },
    get peer() {
      return mail.peer
    },
    get house() {
      return here()
    },
    queue: (request = {}) =>
      here().inHouse((trx) =>
        queueMessage(trx, {
          propertyId: here().propertyId,
          templateKey: 'registration-link',
          dedupeKey: randomUUID(),
          recipient: { name: 'Ana Souza', email: 'ana@example.com' },
          ...request,
        }),
      ),
  }
}

/** A confirmed booking without a payment; its messages are not sent yet. */
export const makeConfirmed = async (house: House, options: StayOptions & HoldOptions = {}): Promise<string> => {
  const bookingId = await makeHold(house, options)
  await house.inHouse((trx) => confirmBooking(trx, bookingId))
  return bookingId
}

/** Runs the jobs of messages that are due, or fall due within `aheadMs`. */
export const deliverAll = (aheadMs = 0) =>
  drain({
    aheadMs,
    kinds: [
      'trigger',
      'plan-stay',
      'plan-automation',
      'deliver',
      'fall-back',
      'resolve-unknown',
      'report-sandbox',
      'process-callback',
      'verify-channel',
      'expand-campaign',
      'stop-campaign',
      'send-user-mail',
    ].map((verb) => `messages.${verb}`),
  })

export const messagesOf = (house: House): Promise<MessageRow[]> =>
  house.inHouse((trx) =>
    sql<MessageRow>(
      trx,
      `select * from message where scheduled_for < now() + interval '1 minute' order by created_at, id`,
    ),
  )

export const attemptsOf = (house: House, messageId?: string): Promise<MessageAttemptRow[]> =>
  house.inHouse((trx) =>
    sql<MessageAttemptRow>(
      trx,
      `select * from message_attempt where ?::uuid is null or message_id = ?::uuid order by created_at, step, number`,
      [messageId ?? null, messageId ?? null],
    ),
  )
