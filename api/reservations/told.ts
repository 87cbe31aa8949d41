import { List, Obj, Opt, Text, Uuid, Words } from '../../config/schema.ts'

export const Notice = { code: Text(1, 60), message: Text(1, 500) }
export const Alerts = List(Obj({ id: Uuid, text: Words(1, 2_000) }), { max: 4_000 })

/** Fields of replies to commands that name people. */
export const told = {
  /** Notes that are told at a booking; in the reply that names the people. */
  alerts: Opt(Alerts),
  /** Told with a command that has named people, or has let them in. */
  warnings: Opt(List(Obj(Notice), { max: 50 })),
}
