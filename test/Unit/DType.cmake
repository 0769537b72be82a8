torchc_unit_test(DTypeTest SOURCES DTypeTest.cpp)
