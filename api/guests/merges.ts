import { sampleId } from '../../config/samples.ts'
import { Obj } from '../../config/schema.ts'
import { mergeGuests, unmergeGuest } from '../../db/guests/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Guest, Merge, ofGuest, Reason } from './schemas.ts'
import { shownGuest } from './show.ts'

const record = { table: 'guest', param: 'guestId', lockedBy: 'command' } as const

const merge = route({
  id: 'guests.merge',
  method: 'POST',
  path: `${ofGuest}/merge`,
  summary: 'Merge another profile into this one',
  description:
    'The guest of the path survives. `take` names fields that it gets from the other; empty ones are filled without asking. Stays, documents, notes and blocks of both are those of the survivor.',
  access: can('merge', 'Guest'),
  record,
  body: Merge,
  example: { mergedGuestId: sampleId('mergedGuestId'), take: ['phone'], reason: 'Same person, typed twice' },
  returns: Guest,
  errors: ['guest_merged', 'guest_erased', 'merge_not_possible', 'privacy_request_open', 'reference_not_found'],
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await mergeGuests(trx, params.guestId, body, expectedVersion)
    return shownGuest(trx, params.guestId, admission)
  },
})

const unmerge = route({
  id: 'guests.unmerge',
  method: 'POST',
  path: `${ofGuest}/unmerge`,
  summary: 'Take a merged profile out again',
  description:
    'Called with the id of the merged profile. What was made since the merge stays with the survivor; fields that it took over and still has go back.',
  access: can('merge', 'Guest'),
  record,
  body: Obj({ reason: Reason }),
  example: { reason: 'Two people of one name' },
  returns: Guest,
  errors: ['guest_erased', 'invalid_transition'],
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await unmergeGuest(trx, params.guestId, body.reason, expectedVersion)
    return shownGuest(trx, params.guestId, admission)
  },
})

export const routes = [merge, unmerge]
