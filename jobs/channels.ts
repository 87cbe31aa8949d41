import { Bool, Day, List, Obj, OneOf, Opt, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

const ofConnection = Obj({ tenantId: Uuid, channelConnectionId: Uuid })
const ofBooking = Obj({ tenantId: Uuid, channelBookingId: Uuid })

/** Marks days to be sent to the channels of a property. An empty list means all types, or all pools. */
export const markDirty = job({
  name: 'channels.mark-dirty',
  queue: 'channels',
  payload: Obj({
    tenantId: Uuid,
    propertyId: Uuid,
    unitTypeIds: List(Uuid, { max: 50 }),
    unitPoolIds: List(Uuid, { max: 20 }),
    kind: OneOf(['availability', 'rates', 'all']),
    /** Nights, both included. */
    from: Day,
    to: Day,
    /** The change may have closed sales by itself, as a plan that is archived: its push does not wait. */
    closes: Opt(Bool),
  }),
  retry: 'internal',
})

/** A channel is asked whether it answers, before anything is exchanged. */
export const testChannel = job({
  name: 'channels.test',
  queue: 'channels',
  feature: 'channels',
  payload: ofConnection,
  retry: 'provider',
  tries: 3,
})

/** A channel is told what has changed. */
export const pushChannel = job({
  name: 'channels.push',
  queue: 'channels',
  feature: 'channels',
  payload: ofConnection,
  retry: 'provider',
})

/** A channel is asked for its bookings. */
export const pullChannel = job({
  name: 'channels.pull',
  queue: 'channels',
  feature: 'channels',
  payload: ofConnection,
  retry: 'tick',
})

/** A channel is told that a revision is stored here. */
export const acknowledgeRevision = job({
  name: 'channels.acknowledge',
  queue: 'channels',
  payload: ofBooking,
  retry: 'provider',
})

/** A stored revision becomes a stay, a change of one, or its end. */
export const applyRevision = job({
  name: 'channels.apply-booking',
  queue: 'channels',
  payload: ofBooking,
  retry: 'internal',
  class: 'urgent',
})

/** Finds connections with work: bookings to pull, marks left over, a day that came into reach, a person to alert. */
export const tickChannels = job({ name: 'channels.tick', queue: 'channels', payload: Obj({}), retry: 'tick' })

/** Erases what channels said of guests, 90 days after their departure, and drops pushes of 90 days ago. */
export const eraseChannelPayloads = job({
  name: 'privacy.erase-channel-payloads',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

export const channelsJobs: Job[] = [
  markDirty,
  testChannel,
  pushChannel,
  pullChannel,
  acknowledgeRevision,
  applyRevision,
  tickChannels,
  eraseChannelPayloads,
]

export const channelsSchedules: Schedule[] = [every(30, tickChannels), daily('03:35', eraseChannelPayloads)]
