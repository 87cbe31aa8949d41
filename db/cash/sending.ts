import type { Trx } from '../lib/connection.ts'

/** The functions of Pix connections that transfers call. */
export type PixSender = {
  /** `unsupported`: there is no connection, or it cannot send. */
  stateOf: (trx: Trx, cashAccountId: string) => Promise<'ready' | 'not_ready' | 'unsupported'>
  /** Asks a worker to send an approved transfer on its day. */
  send: (trx: Trx, transfer: { transferId: string; on: string }) => Promise<void>
}

let sender: PixSender | null = null

export const registerPixSender = (given: PixSender): void => {
  sender = given
}

const none: PixSender = {
  stateOf: () => Promise.resolve('unsupported'),
  send: () => Promise.reject(new Error('no account can send a Pix')),
}

/** The sender that is registered; without one no account can send. */
export const pixSender = (): PixSender => sender ?? none
