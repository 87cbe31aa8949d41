import { channelDrivers } from './channels.ts'

/** Whom jobs call through a gate, beside those that have one already: what comes first in the name of an account's gate. */
export const providers: readonly string[] = ['sandbox', 'stripe', 'smtp', 'twilio', ...channelDrivers]
