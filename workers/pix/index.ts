import type { PixLine } from '../../db/cash/index.ts'
import type { Bank } from './bank.ts'
import { bcbBank } from './bcb.ts'
import { sandboxBank } from './sandbox.ts'

const banks: Readonly<Record<PixLine['provider'], Bank>> = { sandbox: sandboxBank, bcb: bcbBank }

/** The bank of a connection. */
export const bankOf = ({ provider }: PixLine): Bank => banks[provider]
