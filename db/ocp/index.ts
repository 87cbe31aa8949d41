/** What other modules ask of messages: they queue, and never send themselves. */
export { provisionChannels, provisionMessages } from './provision.ts'
export { queueMessage } from './queue.ts'
export { mailUser } from './user-mail.ts'
