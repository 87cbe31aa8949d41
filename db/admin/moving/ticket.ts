import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import { makeTransportPair, sealForService, transportFrom, unsealForService } from '../../lib/sealing/index.ts'
import type { Transport } from '../../lib/sealing/index.ts'
import type { Manifest } from './format.ts'
import { isMac, macOf } from './mac.ts'

const prefix = 'move_'
const macBytes = 32
const placeOf = (id: string) => ({ table: 'tenant_ticket', rowId: id, purpose: 'private_key' })

/** A ticket, with which another installation exports one tenant for this one. It holds no secret. */
export const makeTicket = async (owner: Knex): Promise<string> => {
  const id = randomUUID()
  const { publicKey, privateKey } = makeTransportPair()
  await sql(owner, `insert into tenant_ticket (id, public_key, private_key) values (:id, :publicKey, :sealed)`, {
    id,
    publicKey,
    sealed: sealForService(placeOf(id), privateKey.toString('base64')),
  })
  const bytes = Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), publicKey])
  return prefix + Buffer.concat([bytes, macOf('ticket', bytes)]).toString('base64url')
}

/** Throws for a ticket of an installation with another MOVE_KEY: the tenant's keys would open there. */
export const readTicket = (ticket: string): { id: string; publicKey: Buffer } => {
  const whole = Buffer.from(ticket.slice(prefix.length), 'base64url')
  if (!ticket.startsWith(prefix) || whole.length < 16 + 40 + macBytes) throw new Error('this is not a ticket')
  const bytes = whole.subarray(0, -macBytes)
  if (!isMac('ticket', bytes, whole.subarray(-macBytes)))
    throw new Error('the ticket was altered, or made with another MOVE_KEY')
  const id = bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { id, publicKey: bytes.subarray(16) }
}

/** The transport of an export that was made for a ticket of this installation, which is held until the transaction ends. */
export const openTicket = async (
  trx: Knex,
  { ticketId, half }: Pick<Manifest, 'ticketId' | 'half'>,
): Promise<Transport> => {
  const rows = await sql<{ state: string; privateKey: Buffer | null }>(
    trx,
    `select state, private_key from tenant_ticket where id = :ticketId for update nowait`,
    { ticketId },
  )
  const [ticket] = rows
  if (!ticket) throw new Error('the tenant was exported for a ticket of another installation')
  if (ticket.privateKey === null) throw new Error(`the ticket is ${ticket.state}`)
  const privateKey = unsealForService<string>(placeOf(ticketId), ticket.privateKey)
  return transportFrom(Buffer.from(privateKey, 'base64'), Buffer.from(half, 'base64url'))
}

/** Gives a ticket up: what was exported for it opens nowhere any more. Answers the receipt, with which the source takes the tenant back. */
export const withdrawTicket = (owner: Knex, manifest: Pick<Manifest, 'ticketId' | 'half'>): Promise<string> =>
  owner.transaction(async (trx) => {
    const { receipt } = await openTicket(trx, manifest)
    await sql(
      trx,
      `update tenant_ticket set state = 'withdrawn', private_key = null, ended_at = now() where id = :ticketId`,
      { ticketId: manifest.ticketId },
    )
    return receipt
  })
