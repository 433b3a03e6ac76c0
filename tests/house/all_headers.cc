// Compiling and linking this program is the test: forwards.cc and backwards.cc include every header.
int main() { return 0; }
