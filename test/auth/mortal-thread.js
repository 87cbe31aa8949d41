import { parentPort } from 'node:worker_threads'

// Stands for a thread that hashes: one that a task can kill.
parentPort?.on('message', ({ id, text }) => {
  if (text === 'dies') process.exit(1)
  parentPort?.postMessage({ id, result: 'done' })
})
