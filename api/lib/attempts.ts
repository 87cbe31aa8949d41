import { Count, Instant, Int, List, Nullable, Obj, OneOf, Text } from '../../config/schema.ts'

export const AttemptOutcome = OneOf(['started', 'known', 'refused', 'not_sent', 'unknown'])
/** Calls to another company about a record, latest first. */
export const Attempts = List(
  Obj({
    operation: Text(1, 40),
    tries: Count,
    startedAt: Instant,
    finishedAt: Nullable(Instant),
    outcome: AttemptOutcome,
    code: Nullable(Text(0, 200)),
    httpStatus: Nullable(Int(0, 999)),
    reference: Nullable(Text(1, 200, { cardNumber: 'exempt' })),
  }),
  { max: 20 },
)
