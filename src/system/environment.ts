// The process's environment, for drivers whose engines are named by well-known variables.

export const environment: Readonly<Record<string, string | undefined>> = process.env;
